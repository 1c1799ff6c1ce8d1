import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { status } from '@grpc/grpc-js';

import { longSleep } from '../../../timers.ts';
import { commandOf } from '../command.ts';
import type { Command } from '../command.ts';
import { RuntimeFailure, refused } from '../errors.ts';
import { aborted } from '../faults.ts';
import { signalGroup } from '../signals.ts';
import type { Verb } from './verb.ts';

/** Bytes kept of each stream; the rest is read and dropped (containerd's bound). */
const MAX_OUTPUT = 16 * 1024 * 1024;

/**
 * Runs a command beside the container's process, with its environment and directory, and waits for it. Its process
 * group is killed when it ends, when `timeout` seconds (0: no limit) are over (DEADLINE_EXCEEDED), when the container
 * ends or when the client gives up.
 */
export const execSync: Verb<'ExecSync'> = async (runtime, request, { signal }) => {
  const entry = runtime.container(request.containerId);
  if (entry.process === undefined) throw refused('failed to exec in container: container is not in running state');
  if (request.cmd.length === 0) throw refused('failed to exec in container: no command');
  const command = await commandOf(runtime, entry, request.cmd).catch((error: unknown) => {
    throw refused(`failed to exec in container: failed to start exec: ${RuntimeFailure.from(error).message}`);
  });
  const over = new AbortController();
  const seconds = Number(request.timeout);
  const interruptions = [aborted(signal).then(() => new RuntimeFailure(status.CANCELLED, 'context canceled'))];
  interruptions.push(entry.exited.then(() => refused('failed to exec in container: container has exited')));
  if (seconds > 0) {
    const failure = new RuntimeFailure(
      status.DEADLINE_EXCEEDED,
      `failed to exec in container: timeout ${seconds}s exceeded: context deadline exceeded`,
    );
    interruptions.push(longSleep(seconds * 1_000, over.signal).then(() => failure));
  }
  try {
    return await run(command, Promise.race(interruptions));
  } finally {
    over.abort();
  }
};

async function run(
  command: Command,
  interruption: Promise<RuntimeFailure>,
): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }> {
  const child = spawn(command.file, command.argv.slice(1), {
    argv0: command.argv[0],
    env: command.env,
    cwd: command.cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const exit = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(refused(`failed to exec in container: ${error.message}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
  const kill = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  };
  const outcome = await Promise.race([exit, interruption]);
  kill();
  if (typeof outcome !== 'number') {
    await exit;
    throw outcome;
  }
  // What left the group may still hold the pipes; nobody waits for that.
  await Promise.race([Promise.all([stdout.ended, stderr.ended]), sleep(1_000, undefined, { ref: false })]);
  return { stdout: stdout.bytes(), stderr: stderr.bytes(), exitCode: outcome };
}

function collect(stream: Readable): { bytes(): Buffer; ended: Promise<void> } {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, MAX_OUTPUT - length);
    length += kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  return {
    bytes: () => Buffer.concat(chunks),
    ended: new Promise((resolve) => stream.once('close', resolve)),
  };
}
