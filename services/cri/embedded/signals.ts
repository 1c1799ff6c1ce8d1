import { errno } from './errors.ts';

/** Signals one process; one that is gone is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals | number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errno(error) !== 'ESRCH') throw error;
  }
}

/** Signals a whole process group, given its leader's pid; an empty group is fine. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  signalProcess(-pid, signal);
}
