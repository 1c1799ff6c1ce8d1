import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../host/effect.ts';
import { makeDirectory } from '../host/make-directory.ts';

const URL_FILE = 'inspect.url';
const TOKEN = /^[\w-]{43}$/;

/**
 * The token of this root directory: kept in `inspect.token`, mode 0600, so that a page which was left open finds its way
 * back after a restart of the agent. One that others could read, or that is no token, is replaced.
 * @throws an error that names the file, where it can be neither read nor written
 */
export async function keptToken(folder: string): Promise<string> {
  const path = join(folder, 'inspect.token');
  return tokenAt(path).catch((error: Error) => {
    throw new Error(`${path}: ${error.message}`, { cause: error });
  });
}

async function tokenAt(path: string): Promise<string> {
  const found = await ifThere(stat(path));
  const closed = found?.isFile() && (found.mode & 0o077) === 0 && found.uid === process.getuid?.();
  const kept = closed ? (await readFile(path, 'utf8')).trim() : '';
  if (TOKEN.test(kept)) return kept;
  const token = randomBytes(32).toString('base64url');
  await writePrivate(path, `${token}\n`);
  return token;
}

/** Keeps the address with its token where only the agent's user can read it. */
export async function keepUrl(folder: string, url: string): Promise<void> {
  await writePrivate(join(folder, URL_FILE), `${url}\n`);
}

/** The address no longer answers. */
export async function removeUrl(folder: string): Promise<void> {
  await rm(join(folder, URL_FILE), { force: true });
}

/** Mode 0600 from its first moment, whole or not there. */
async function writePrivate(path: string, text: string): Promise<void> {
  await makeDirectory(join(path, '..'), 0o700);
  const own = `${path}.${randomBytes(5).toString('hex')}`;
  const file = await open(own, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.close();
    await rename(own, path);
  } catch (error) {
    await file.close();
    await rm(own, { force: true });
    throw error;
  }
}
