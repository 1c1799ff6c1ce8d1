import { write, writeSync } from 'node:fs';
import pino, { type DestinationStream, type Logger } from 'pino';
import { AgentError } from '../machines/agent-error.types.ts';
import { errno } from '../services/host/effect.ts';

export interface LogSettings {
  format: 'text' | 'json';
  /** `-v`: 0 to 3 information, 4 and 5 debugging, 6 to 10 everything. */
  verbosity: number;
  /** Where lines go; standard error where it is not given. */
  destination?: DestinationStream;
}

export interface AgentLogger {
  log: Logger;
  /** Writes what is still held back; at exit. */
  flush(): void;
}

/** Values under these names never reach a log. */
const SECRET = ['token', 'password', 'authorization', 'headers', 'auth', 'env', 'data', 'stringData', 'registryToken'];

/**
 * The agent's log on standard error: JSON lines, or text of klog's form
 * (`I0102 15:04:05.000000    1234 "message" key="value"`).
 */
export function createLogger({ format, verbosity, destination }: LogSettings): AgentLogger {
  const file = destination ? undefined : standardError();
  const out = destination ?? file ?? process.stderr;
  const stream = format === 'json' ? out : { write: (line: string) => void out.write(klogLine(line)) };
  const log = pino(
    {
      level: verbosity >= 6 ? 'trace' : verbosity >= 4 ? 'debug' : 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.epochTime,
      serializers: { err: plainError },
      redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`]), censor: '***' },
    },
    stream,
  );
  return { log, flush: () => file?.end() };
}

/** Longest backlog of what cannot be written, in bytes; further lines are dropped. */
const BACKLOG = 1024 * 1024;

/**
 * Standard error, behind which a full disk or a reader that went away may be: no reason to end, and nowhere to tell it.
 * What was held back is written with the next line that can be.
 */
function standardError() {
  let held = Buffer.alloc(0);
  /** Bytes of the write in flight, the first of those that are held. */
  let flying = 0;
  let ended = false;
  const pump = () => {
    if (flying > 0 || held.length === 0) return;
    flying = held.length;
    write(2, held, (error, count) => {
      flying = 0;
      if (error || ended) return;
      held = held.subarray(count);
      pump();
    });
  };
  return {
    write(line: string) {
      if (held.length < BACKLOG) held = Buffer.concat([held, Buffer.from(line)]);
      pump();
    },
    /** Writes what is not on its way yet, at exit. */
    end() {
      ended = true;
      try {
        for (let rest = held.subarray(flying); rest.length > 0;) rest = rest.subarray(writeSync(2, rest));
      } catch (error) {
        if (errno(error) === undefined) throw error;
      }
    },
  };
}

/** An error as a log has it: no stack for what is expected. */
function plainError(error: unknown): unknown {
  if (error instanceof AgentError) {
    const { op, reason, message, transient } = error;
    return { op, reason, message, transient };
  }
  return error instanceof Error ? { message: error.message, stack: error.stack } : String(error);
}

const LETTERS: Record<number, string> = { 10: 'I', 20: 'I', 30: 'I', 40: 'W', 50: 'E', 60: 'F' };

/** A JSON line of pino as klog's text. */
function klogLine(line: string): string {
  const { level, time, msg = '', ...rest } = JSON.parse(line) as Record<string, unknown>;
  const at = new Date(Number(time));
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}000`;
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `${LETTERS[Number(level)] ?? 'I'}${day} ${clock} ${String(process.pid).padStart(7)} ${JSON.stringify(msg)}${fields.join('')}\n`;
}
