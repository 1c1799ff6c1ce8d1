import { open } from 'node:fs/promises';
import { errno, ifThere } from './effect.ts';

/** Bytes of one container's message (container/runtime.go:MaxContainerTerminationMessageLength). */
const MAX_MESSAGE = 4096;
/** Of the log, where policy falls back on it: bytes and lines. */
const MAX_LOG = 2048;
const MAX_LOG_LINES = 80;
/** Of the log file that is read for them: 80 short lines with their CRI heads, or one of the longest there are. */
const LOG_WINDOW = 64 * 1024;

/**
 * The termination message of an exited container (kuberuntime/kuberuntime_container.go:getTerminationMessage): the end of
 * the file; where that is empty, the exit code is not 0 and the policy says FallbackToLogsOnError, the end of the log.
 *
 * @param input.maxBytes the container's share of the pod's 12288 bytes
 */
export async function readTerminationMessage(input: {
  hostPath?: string;
  policy: string;
  exitCode: number;
  logPath: string;
  maxBytes: number;
}): Promise<string> {
  const limit = Math.min(MAX_MESSAGE, input.maxBytes);
  try {
    const { bytes } = input.hostPath ? await tail(input.hostPath, limit) : { bytes: Buffer.alloc(0) };
    if (bytes.length > 0) return text(bytes);
  } catch (error) {
    return `error on reading termination log ${input.hostPath}: ${errno(error) ?? String(error)}`;
  }
  if (input.policy !== 'FallbackToLogsOnError' || input.exitCode === 0 || !input.logPath) return '';
  const { bytes, whole } = await tail(input.logPath, LOG_WINDOW);
  const output = logOutput(bytes.toString('utf8'), whole);
  const lines = output.split('\n');
  // A log that ends in a newline has an empty piece after it, which is no line.
  const kept = lines.slice(-(MAX_LOG_LINES + (output.endsWith('\n') ? 1 : 0))).join('\n');
  return text(Buffer.from(kept).subarray(-Math.min(MAX_LOG, limit)));
}

/** The last bytes of a file; none where it is not there. `whole`: the file has no more. */
async function tail(path: string, max: number): Promise<{ bytes: Buffer; whole: boolean }> {
  const file = await ifThere(open(path, 'r'));
  if (!file) return { bytes: Buffer.alloc(0), whole: true };
  try {
    const { size } = await file.stat();
    const length = Math.min(size, max);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return { bytes: buffer.subarray(0, bytesRead), whole: size <= max };
  } finally {
    await file.close();
  }
}

/** What the container wrote, without the CRI log's `<time> <stream> <P|F> ` heads; P lines go on in the next one. */
function logOutput(log: string, whole: boolean): string {
  const entries = log.split('\n');
  // The first of a window may have lost its head.
  const usable = whole || entries.length < 3 ? entries : entries.slice(1);
  return usable
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, tag, content] = /^\S+ (?:stdout|stderr) ([PF])\S* ?(.*)$/.exec(entry) ?? [undefined, 'F', entry];
      return tag === 'P' ? content : `${content}\n`;
    })
    .join('');
}

/** Text of bytes that may begin inside a character: what is left of that one is dropped. */
function text(bytes: Buffer): string {
  let start = 0;
  while (start < bytes.length && start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start).toString('utf8');
}
