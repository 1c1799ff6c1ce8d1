import { readFile, readdir } from 'node:fs/promises';

import { errno } from './errors.ts';

/** Clock ticks per second in /proc/<pid>/stat: USER_HZ, 100 on every Linux architecture that Node runs on. */
const USER_HZ = 100n;

export interface ProcessStat {
  pid: number;
  /** R, S, D, Z … */
  state: string;
  processGroup: number;
  /** Ticks since boot; with the pid it names a process for good. */
  startTime: string;
  /** CPU time of the process and of its children that ended. */
  cpuNs: bigint;
  minorFaults: bigint;
  majorFaults: bigint;
}

/** Reads /proc/<pid>/stat (proc_pid_stat(5)); undefined when there is no such process. */
export async function readStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readProc(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The command name may hold spaces and parentheses: fields are counted from its last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): string => fields[number - 3] ?? '0';
  const ticks = [14, 15, 16, 17].reduce((sum, number) => sum + BigInt(field(number)), 0n);
  return {
    pid,
    state: field(3),
    processGroup: Number(field(5)),
    startTime: field(22),
    cpuNs: (ticks * 1_000_000_000n) / USER_HZ,
    minorFaults: BigInt(field(10)),
    majorFaults: BigInt(field(12)),
  };
}

/** Whether that very process (not a later one with the same pid) still runs; a zombie does not. */
export async function isAlive(pid: number, startTime: string): Promise<boolean> {
  const stat = await readStat(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z';
}

export async function listPids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Every process by its process group, zombies left out. */
export async function processesByGroup(): Promise<Map<number, ProcessStat[]>> {
  const groups = new Map<number, ProcessStat[]>();
  for (const stat of await Promise.all((await listPids()).map(readStat))) {
    if (stat === undefined || stat.state === 'Z') continue;
    const members = groups.get(stat.processGroup);
    if (members === undefined) groups.set(stat.processGroup, [stat]);
    else members.push(stat);
  }
  return groups;
}

/** Resident and swapped bytes of a process; zeroes when it is gone. */
export async function readMemory(pid: number): Promise<{ rss: bigint; swap: bigint }> {
  const text = (await readProc(`/proc/${pid}/status`)) ?? '';
  const bytes = (key: string): bigint => BigInt(new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024n;
  return { rss: bytes('VmRSS'), swap: bytes('VmSwap') };
}

/** The environment that a process was started with, or undefined when it is gone or another user's. */
export async function readEnvironment(pid: number): Promise<string[] | undefined> {
  return (await readProc(`/proc/${pid}/environ`))?.split('\0');
}

async function readProc(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errno(error) ?? '')) return undefined;
    throw error;
  }
}
