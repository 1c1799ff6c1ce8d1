import { describe, expect, test } from '@jest/globals';
import { AgentError } from '../../../machines/agent-error.types.ts';
import { redact } from '../../../services/live/redact.ts';
import { Secrets } from '../../../services/live/secrets.ts';
import { at, liveWorld, podOf } from './live-world.ts';

const SECRET = 'hunter2-in-the-clear';

describe('what may be secret is replaced, what names it stays', () => {
  test.each<[string, unknown, unknown]>([
    [
      'environment of a container',
      {
        env: [
          { name: 'A', value: SECRET },
          { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
      },
      {
        env: [
          { name: 'A', value: '[redacted]' },
          { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
      },
    ],
    ['environment of CRI', { envs: [{ key: 'A', value: SECRET }] }, { envs: [{ key: 'A', value: '[redacted]' }] }],
    [
      'environment as a map',
      { env: { name: SECRET, path: SECRET } },
      { env: { name: '[redacted]', path: '[redacted]' } },
    ],
    [
      'data of a Secret',
      { kind: 'Secret', metadata: { name: 's' }, data: { name: SECRET }, stringData: { k: SECRET } },
      { kind: 'Secret', metadata: { name: 's' }, data: { name: '[redacted]' }, stringData: { k: '[redacted]' } },
    ],
    ['a token', { token: SECRET, tokenExpirationSeconds: 60 }, { token: '[redacted]', tokenExpirationSeconds: 60 }],
    [
      'a header',
      { headers: { Authorization: SECRET, type: SECRET } },
      { headers: { Authorization: '[redacted]', type: '[redacted]' } },
    ],
    [
      'headers of a probe',
      { httpHeaders: [{ name: 'X', value: SECRET }] },
      { httpHeaders: [{ name: 'X', value: '[redacted]' }] },
    ],
    [
      'pull credentials',
      { auth: { username: SECRET, password: SECRET } },
      { auth: { username: '[redacted]', password: '[redacted]' } },
    ],
    [
      'a password, a number too',
      { rootPassword: SECRET, pin: 1, dbPassword: 1234 },
      { rootPassword: '[redacted]', pin: 1, dbPassword: '[redacted]' },
    ],
    [
      'a kubeconfig',
      { 'client-key-data': SECRET, kubeconfig: { user: SECRET } },
      { 'client-key-data': '[redacted]', kubeconfig: { user: '[redacted]' } },
    ],
    [
      'annotations, apart from the own ones',
      {
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': SECRET,
          'kubernetes.io/config.source': 'file',
        },
      },
      {
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': '[redacted]',
          'kubernetes.io/config.source': 'file',
        },
      },
    ],
    [
      'a termination message',
      { exitCode: 1, message: SECRET, reason: 'Error' },
      { exitCode: 1, message: '[redacted]', reason: 'Error' },
    ],
    ['output of a command', { stdout: SECRET, stderr: [SECRET] }, { stdout: '[redacted]', stderr: ['[redacted]'] }],
    [
      'volumes that name secrets',
      { secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } },
      { secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } },
    ],
    ['credentials in an address', { url: 'https://me:word@host/x' }, { url: 'https://[redacted]@host/x' }],
    ['credentials in a text', { text: 'sent Bearer abcdefgh12345' }, { text: 'sent Bearer [redacted]' }],
    [
      'a private key',
      { text: '-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----' },
      { text: '[redacted]' },
    ],
  ])('%s', (_what, value, expected) => {
    expect(redact(value)).toEqual(expected);
  });

  test('a secret that stands in one place is replaced in every other text', () => {
    const multiline = 'line one of it\nand another line';
    const tree = redact({
      env: [
        { name: 'A', value: SECRET },
        { name: 'B', value: multiline },
        { name: 'C', value: 'a"b\\c-long' },
      ],
      args: ['--password', SECRET],
      error: new AgentError({
        op: 'CreateContainer',
        reason: 'X',
        message: `bad ${SECRET}!`,
        transient: false,
        cause: new Error(SECRET),
      }),
      waiting: `and another line; ${JSON.stringify('a"b\\c-long')}`,
      map: new Map([[`of ${SECRET}`, new Set([SECRET])]]),
    });
    expect(JSON.stringify(tree)).not.toMatch(/hunter2|another line|long/);
    expect(tree).toMatchObject({
      args: ['--password', '[redacted]'],
      error: { op: 'CreateContainer', reason: 'X', message: 'bad [redacted]!', transient: false },
      map: { 'of [redacted]': ['[redacted]'] },
    });
  });

  test('a secret that reaches over the end of what is shown is not shown in part', () => {
    const text = JSON.stringify(redact({ env: [{ name: 'A', value: SECRET }], note: `${'x'.repeat(4090)}${SECRET}` }));
    expect(text).not.toContain('hunter');
  });

  test('what is known from elsewhere is replaced too', () => {
    const known = new Secrets();
    known.add(SECRET);
    expect(redact({ message: `it was ${SECRET}` }, known)).toEqual({ message: 'it was [redacted]' });
  });
});

describe('any value becomes a JSON tree of bounded size', () => {
  test('circles, functions, dates, bytes and numbers that JSON has not', () => {
    const circle: Record<string, unknown> = {
      n: NaN,
      when: new Date(0),
      bytes: new Uint8Array(3),
      big: 5n,
      none: undefined,
    };
    circle['self'] = circle;
    circle['call'] = function named() {
      return 0;
    };
    expect(redact(circle)).toEqual({
      ...{ n: 'NaN', when: '1970-01-01T00:00:00.000Z', bytes: '[3 bytes]', big: '5', self: '[circular]' },
      call: '[function named]',
    });
  });

  test('a getter is not run', () => {
    const value = Object.defineProperty({}, 'trap', {
      enumerable: true,
      get: () => {
        throw new Error('run');
      },
    });
    expect(redact(value)).toEqual({ trap: '[getter]' });
  });

  test('depth, length and text', () => {
    let deep: object = {};
    for (let i = 0; i < 100; i += 1) deep = { deep };
    expect(JSON.stringify(redact(deep)).length).toBeLessThan(300);
    expect(redact(Array.from({ length: 1_000 }, (_, i) => i))).toHaveLength(201);
    expect((redact('x'.repeat(10_000)) as string).length).toBeLessThan(4_200);
    const wide = Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => ({ a: [1, 2, 3] })));
    expect(JSON.stringify(redact(wide)).length).toBeLessThan(1_000_000);
  });
});

test('no context, no transition and no live actor of a whole run with faults has a marked secret', async () => {
  const simulated = liveWorld(7);
  const { world } = simulated;
  const marks = ['mark-of-env-1', 'mark-of-env-2', 'mark-of-annotation', 'mark-of-output', 'mark-of-header'];
  const [first, second, annotation, output, header] = marks;
  const more = (value: unknown) => ({
    env: [{ name: 'PASSWORD', value }],
    args: ['--token', value],
  });
  world.put(at('a'), podOf('a', {}, more(first), { annotations: { 'example.com/note': annotation } }));
  world.put(at('b'), podOf('b', {}, { ...more(second), command: ['exit', '1', '3000'] }));
  world.put(at('c'), podOf('c', {}, { ...more(`${header} of c`), image: 'absent:1' }));
  world.runtime.absentImages.add('absent:1');
  // What a runtime says of a failure may hold what it was given.
  world.runtime.script = (op) => (op === 'StartContainer' && world.random.chance(0.3) ? 'fails' : undefined);
  world.start(simulated.live.inspect);
  let contexts = 0;
  let texts = '';
  simulated.live.subscribe({ changed: (actor, transition) => (texts += JSON.stringify([actor, transition])) });
  for (let i = 0; i < 30; i += 1) {
    await world.clock.advance(2_000);
    for (const container of world.runtime.containers.values())
      if (container.state === 'exited') container.message = `the program said ${output}`;
    if (i === 20) world.remove(at('a'));
    for (const { sessionId } of simulated.live.actors()) {
      const text = JSON.stringify(simulated.live.context(sessionId));
      contexts += 1;
      for (const mark of marks)
        if (text.includes(mark)) throw new Error(`${mark} in the context of ${sessionId}: ${text}`);
    }
  }
  texts += JSON.stringify([simulated.live.history(), simulated.live.actors()]);
  expect(contexts).toBeGreaterThan(300);
  expect(marks.filter((mark) => texts.includes(mark))).toEqual([]);
  // The marks were there to be found.
  const plain = Object.values(world.agent?.getSnapshot().context.entries ?? {}).map(({ pod }) => JSON.stringify(pod));
  expect(plain.join('')).toContain(second);
  expect(JSON.stringify([...world.runtime.containers.values()])).toContain(output);
  world.kill();
});
