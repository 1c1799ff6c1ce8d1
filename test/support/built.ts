import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { takeLock } from './lock.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUNDLE = join(ROOT, 'dist/statelet.js');
const LOCK = join(ROOT, 'node_modules/.cache/statelet-build.lock');
/** What the bundle is made of. */
const SOURCES = [
  'bin',
  'machines',
  'services',
  'docs/statecharts',
  'scripts/build.ts',
  'scripts/build-page.ts',
  'package-lock.json',
];

/**
 * bin/run.js with an up-to-date bundle behind it. The bundle is made where it is missing or older than a source, by one
 * test process at a time: the others wait and then find it made.
 */
export async function builtAgent(): Promise<string> {
  const release = await takeLock(LOCK);
  try {
    if (await isStale()) await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: ROOT });
  } finally {
    await release();
  }
  return join(ROOT, 'bin/run.js');
}

async function isStale(): Promise<boolean> {
  const made = await stat(BUNDLE).catch(() => undefined);
  if (!made) return true;
  const times = await Promise.all(SOURCES.map((source) => newest(join(ROOT, source))));
  return Math.max(...times) > made.mtimeMs;
}

/** The latest change of a file, or of anything in a folder. */
async function newest(path: string): Promise<number> {
  const { mtimeMs } = await stat(path);
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const times = await Promise.all(
    entries
      .filter((e) => e.isFile() && !e.parentPath.includes('node_modules'))
      .map((e) => stat(join(e.parentPath, e.name)).then((s) => s.mtimeMs)),
  );
  return Math.max(mtimeMs, ...times);
}
