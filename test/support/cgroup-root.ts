import { accessSync, constants } from 'node:fs';
import { access, mkdir, readFile, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup';

/** What this machine has not for cgroups of the tests' own; empty where they can be made. */
export function lacksForCgroups(): string {
  if (process.getuid?.() !== 0) return 'root';
  try {
    accessSync(MOUNT, constants.W_OK);
    return '';
  } catch {
    return `a ${MOUNT} to write to`;
  }
}

/** A cgroup of the test's own, in every tree of the node, for `cgroupRoot`. */
export class CgroupRoot {
  readonly name: string;
  readonly version: 1 | 2;
  readonly #trees: string[];

  private constructor(name: string, version: 1 | 2, trees: string[]) {
    this.name = name;
    this.version = version;
    this.#trees = trees;
  }

  static async make(suffix: string): Promise<CgroupRoot> {
    const v2 = await access(join(MOUNT, 'cgroup.controllers')).then(
      () => true,
      () => false,
    );
    const folders = (await readdir(MOUNT, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    const trees = v2 ? [MOUNT] : folders.map(({ name }) => join(MOUNT, name));
    const root = new CgroupRoot(`/statelet-e2e-${suffix}`, v2 ? 2 : 1, trees);
    for (const tree of trees) await mkdir(join(tree, root.name), { recursive: true });
    return root;
  }

  async read(controller: string, path: string, file: string): Promise<string> {
    return (await readFile(join(MOUNT, controller, this.name, path, file), 'utf8')).trim();
  }

  /** Paths of what is left of pods below it, in any tree. */
  async pods(): Promise<string[]> {
    return (await this.#folders()).filter((path) => /\/pod[^/]+/.test(path));
  }

  /** Makes one more cgroup in it, as if it were of a pod; what is answered removes it. */
  async add(name: string): Promise<() => Promise<void>> {
    const folders = this.#trees.map((tree) => join(tree, this.name, name));
    for (const folder of folders) await mkdir(folder);
    return async () => {
      for (const folder of folders) await rmdir(folder);
    };
  }

  /** Removes it with all below it, the deepest first. */
  async remove(): Promise<void> {
    for (const path of await this.#folders()) await rmdir(path);
    for (const tree of this.#trees) await rmdir(join(tree, this.name));
  }

  /** Every cgroup below it, the deepest first. */
  async #folders(): Promise<string[]> {
    const found = await Promise.all(
      this.#trees.map(async (tree) => {
        const root = join(tree, this.name);
        const entries = await readdir(root, { recursive: true, withFileTypes: true });
        return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
      }),
    );
    return found.flat().sort((a, b) => b.length - a.length);
  }
}
