/** Calls of the kernel that Node has no function for; each answers 0, or the errno that it failed with. */
export interface Libc {
  /** mount(2). It waits for nobody only where no server is behind the file system. */
  mount(source: string, target: string, type: string, flags: number, data: string): number;
  /** umount2(2), likewise. */
  umount2(target: string, flags: number): number;
}

let loading: Promise<Libc | Error> | undefined;

/**
 * The C library of this process, loaded by whoever needs it first (7 MiB). An error where koffi is not there, or does not
 * know the platform: then the programs mount(8) and umount(8) do the same, by a fork of the whole agent.
 */
export function libc(): Promise<Libc | Error> {
  return (loading ??= load().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error)))));
}

async function load(): Promise<Libc> {
  const { default: koffi } = await import('koffi');
  const library = koffi.load(null);
  const mount = library.func('int mount(const char *, const char *, const char *, unsigned long, const char *)');
  const umount2 = library.func('int umount2(const char *, int)');
  const errnoOf = (answer: unknown) => (answer === 0 ? 0 : koffi.errno());
  return {
    mount: (...args) => errnoOf(mount(...args)),
    umount2: (...args) => errnoOf(umount2(...args)),
  };
}
