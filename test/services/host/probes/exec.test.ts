import { describe, expect, test } from '@jest/globals';
import { AgentError } from '../../../../machines/agent-error.types.ts';
import { runProbe } from '../../../../services/host/probes/index.ts';
import { inputOf } from './rig.ts';

const signal = new AbortController().signal;

function answering(exitCode: number, output: string) {
  const asked: unknown[][] = [];
  const execute = (...call: [string, string[], number, AbortSignal]) => {
    asked.push(call.slice(0, 3));
    return Promise.resolve({ exitCode, output });
  };
  return { asked, probe: runProbe(execute) };
}

describe('an exec probe', () => {
  test.each([
    [0, 'success'],
    [1, 'failure'],
    [137, 'failure'],
    [-1, 'failure'],
  ])('with exit code %d is a %s, with the output as message', async (exitCode, result) => {
    const { probe } = answering(exitCode, 'said\n');
    await expect(probe(inputOf({ exec: { command: ['check'] } }), signal)).resolves.toEqual({
      result,
      message: 'said\n',
    });
  });

  test('runs in the probed instance, with its own time', async () => {
    const { probe, asked } = answering(0, '');
    await probe(inputOf({ exec: { command: ['check', '-v'] }, timeoutSeconds: 7 }), signal);
    expect(asked).toEqual([['c1', ['check', '-v'], 7]]);
  });

  test('has the variables that the container writes out, and no others', async () => {
    const { probe, asked } = answering(0, '');
    const env = [
      { name: 'A', value: 'one' },
      { name: 'A', value: 'two' },
      { name: 'B', value: '$(A)' },
      { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    await probe(inputOf({ exec: { command: ['x', '$(A)/$(B)', '[$(C)]', '$(D) $$(A)'] } }, { env }), signal);
    expect(asked[0]?.[1]).toEqual(['x', 'two/$(A)', '[]', '$(D) $(A)']);
  });

  test('whose command took too long is a failure', async () => {
    const message = 'command timed out: "sleep 10" timed out after 1s';
    const late = new AgentError({ op: 'ExecSync', reason: 'ExecTimeout', message, transient: true });
    const probe = runProbe(() => Promise.reject(late));
    await expect(probe(inputOf({ exec: { command: ['sleep', '10'] } }), signal)).resolves.toEqual({
      result: 'failure',
      message,
    });
  });

  test('that the runtime does not run is no outcome', async () => {
    const away = new AgentError({ op: 'ExecSync', reason: 'UNAVAILABLE', message: 'away', transient: true });
    const probe = runProbe(() => Promise.reject(away));
    await expect(probe(inputOf({ exec: { command: ['true'] } }), signal)).rejects.toBe(away);
  });

  test('needs no address of the pod', async () => {
    const { probe } = answering(0, '');
    const input = { ...inputOf({ exec: { command: ['true'] } }), podIP: undefined };
    await expect(probe(input, signal)).resolves.toMatchObject({ result: 'success' });
  });
});
