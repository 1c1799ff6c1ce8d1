import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { VolumeFile } from '../../../machines/pod/policy/volume-content.ts';
import { ifThere } from '../effect.ts';

/** What names in a volume lead through: a link to the folder of the content in force, and its successor. */
const DATA = '..data';
const NEXT = '..data_tmp';
const MAX_NAME = 255;
const MAX_PATH = 4096;

/**
 * Writes a volume's files so that who opens them through the volume sees all old or all new ones: into a new folder, to
 * which one link is then switched. Nothing is written where the contents are the same; what an agent that was killed has
 * left half-done is put right (pkg/volume/util/atomic_writer.go:Write).
 *
 * @param own sets ownership and modes of the new folder, before anybody can see it (B107)
 * @throws Error where a path would lead out of the volume
 */
export async function writeVolume(
  directory: string,
  files: readonly VolumeFile[],
  own: (folder: string) => Promise<void>,
): Promise<void> {
  const wanted = new Map(files.map((file) => [validPath(file.path), file]));
  const before = await currentFolder(directory);
  if (before === undefined || !(await isSame(join(directory, before), wanted))) {
    const folder = await newFolder(directory);
    await writeAll(join(directory, folder), wanted);
    await own(join(directory, folder));
    await rm(join(directory, NEXT), { force: true });
    await symlink(folder, join(directory, NEXT));
    await rename(join(directory, NEXT), join(directory, DATA));
  }
  await showNames(directory, new Set([...wanted.keys()].map(firstOf)));
}

/** The folder that is in force; undefined where there is none that can be read. */
async function currentFolder(directory: string): Promise<string | undefined> {
  const stats = await ifThere(lstat(join(directory, DATA)));
  if (!stats?.isSymbolicLink()) return undefined;
  const folder = await readlink(join(directory, DATA));
  // A container that may write in its volume can set the link; nothing outside of it is ever followed.
  if (!isFolderName(folder)) return undefined;
  return (await ifThere(lstat(join(directory, folder))))?.isDirectory() ? folder : undefined;
}

const isFolderName = (name: string) => name.startsWith('..') && name.length > 2 && !name.includes('/');

/** `..YYYY_MM_DD_hh_mm_ss.<random>` */
async function newFolder(directory: string): Promise<string> {
  const time = new Date().toISOString().slice(0, 19).replace(/[-T:]/g, '_');
  const name = `..${time}.${randomBytes(4).readUInt32BE()}`;
  await mkdir(join(directory, name), { mode: 0o755 });
  await chmod(join(directory, name), 0o755);
  return name;
}

/** Side by side: a pod waits for them. */
async function writeAll(folder: string, files: ReadonlyMap<string, VolumeFile>): Promise<void> {
  for (const parent of new Set([...files.keys()].map((path) => posix.dirname(path)))) await makeParents(folder, parent);
  await Promise.all([...files].map(([path, file]) => writeOne(join(folder, path), file)));
}

async function writeOne(file: string, { data, mode, uid }: VolumeFile): Promise<void> {
  await writeFile(file, bytesOf(data), { flag: 'wx', mode });
  // Apart from the creation's mode, which the umask cuts.
  await chmod(file, mode);
  if (uid !== undefined) await chown(file, uid, -1);
}

async function makeParents(folder: string, path: string): Promise<void> {
  if (path === '.') return;
  await makeParents(folder, posix.dirname(path));
  if (await ifThere(lstat(join(folder, path)))) return;
  await mkdir(join(folder, path), { mode: 0o755 });
  await chmod(join(folder, path), 0o755);
}

const bytesOf = (data: VolumeFile['data']) =>
  'text' in data ? Buffer.from(data.text) : Buffer.from(data.base64, 'base64');

/** Whether the folder has these files with these contents, and no other; modes alone do not make it differ. */
async function isSame(folder: string, wanted: ReadonlyMap<string, VolumeFile>): Promise<boolean> {
  const found = await filesBelow(folder, '');
  if (found.length !== wanted.size) return false;
  for (const path of found) {
    const file = wanted.get(path);
    if (!file || !(await lstat(join(folder, path))).isFile()) return false;
    if (!(await readFile(join(folder, path))).equals(bytesOf(file.data))) return false;
  }
  return true;
}

async function filesBelow(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const lists = entries.map((entry) => {
    const path = posix.join(below, entry.name);
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
  return (await Promise.all(lists)).flat();
}

/** The names that a user sees: a link for each first component; and nothing that is left from before. */
async function showNames(directory: string, names: ReadonlySet<string>): Promise<void> {
  const current = await readlink(join(directory, DATA));
  await Promise.all([...names].map((name) => showName(directory, name)));
  for (const name of await readdir(directory)) {
    if (name === DATA || name === current || names.has(name)) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

async function showName(directory: string, name: string): Promise<void> {
  const target = posix.join(DATA, name);
  const stats = await ifThere(lstat(join(directory, name)));
  if (stats?.isSymbolicLink() && (await readlink(join(directory, name))) === target) return;
  if (stats) await rm(join(directory, name), { recursive: true, force: true });
  await symlink(target, join(directory, name));
}

const firstOf = (path: string) => path.split('/')[0] ?? '';

function validPath(path: string): string {
  const refuse = (why: string) => new Error(`invalid path ${JSON.stringify(path.slice(0, MAX_NAME))}: must ${why}`);
  if (path === '' || path.startsWith('/')) throw refuse('be relative');
  if (path.length > MAX_PATH) throw refuse(`be less than or equal to ${MAX_PATH} characters`);
  const parts = path.split('/');
  if (parts.includes('..')) throw refuse('not contain ".."');
  if (firstOf(path).startsWith('..')) throw refuse('not start with ".."');
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME)) throw refuse(`have names of at most ${MAX_NAME} bytes`);
  return join(dirname(path), posix.basename(path));
}
