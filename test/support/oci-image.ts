import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ImageRecipe {
  /** Full names: `docker.io/library/busybox:1.35`. All name the same image. */
  names: string[];
  /** Host files to put in, by their path in the image. */
  files: Record<string, string>;
  /** Links in the image: path → target. */
  links?: Record<string, string>;
  texts?: Record<string, string>;
  /** The image's configuration: Env, Cmd, Entrypoint, User. */
  config: Record<string, unknown>;
}

/** What `ctr images import` reads: a tar of an OCI layout with one image of one uncompressed layer. */
export async function buildImage(directory: string, recipe: ImageRecipe): Promise<string> {
  const root = join(directory, 'rootfs');
  const layout = join(directory, 'layout');
  const blobs = join(layout, 'blobs/sha256');
  for (const folder of ['bin', 'etc', 'tmp', 'root', 'proc', 'sys', 'dev'])
    await mkdir(join(root, folder), { recursive: true });
  await mkdir(blobs, { recursive: true });
  for (const [path, source] of Object.entries(recipe.files)) await copyFile(source, join(root, path));
  for (const [path, target] of Object.entries(recipe.links ?? {})) await symlink(target, join(root, path));
  for (const [path, text] of Object.entries(recipe.texts ?? {})) await writeFile(join(root, path), text);

  const layerFile = join(directory, 'layer.tar');
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  await run('tar', ['-C', root, ...same, '-cf', layerFile, '.']);
  const put = async (content: Buffer | string, mediaType: string) => {
    const bytes = Buffer.from(content);
    const hex = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const layer = await put(await readFile(layerFile), 'application/vnd.oci.image.layer.v1.tar');
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const config = {
    architecture,
    os: 'linux',
    config: recipe.config,
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  };
  const configBlob = await put(JSON.stringify(config), 'application/vnd.oci.image.config.v1+json');
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = await put(
    JSON.stringify({ schemaVersion: 2, mediaType, config: configBlob, layers: [layer] }),
    mediaType,
  );
  const manifests = recipe.names.map((name) => ({
    ...manifest,
    platform: { architecture, os: 'linux' },
    annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name },
  }));
  await writeFile(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  const file = join(directory, 'image.tar');
  await run('tar', ['-C', layout, ...same, '-cf', file, '.']);
  return file;
}

/** Busybox as it is on the machine (Debian's busybox-static), with a link for each of its applets. */
export async function busyboxImage(names: string[], config: Record<string, unknown> = {}): Promise<ImageRecipe> {
  const applets = (await run('/bin/busybox', ['--list'])).stdout
    .split('\n')
    .filter((name) => name && name !== 'busybox');
  return {
    names,
    files: { 'bin/busybox': '/bin/busybox' },
    links: Object.fromEntries(applets.map((name) => [`bin/${name}`, 'busybox'])),
    texts: {
      'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/tmp:/bin/sh\n',
      'etc/group': 'root:x:0:\napp:x:1000:\n',
    },
    config: { Env: ['PATH=/bin'], Cmd: ['sh'], ...config },
  };
}

/** The process of a sandbox: catatonit, which waits and reaps. */
export function pauseImage(name: string): ImageRecipe {
  return {
    names: [name],
    files: { 'bin/catatonit': '/usr/bin/catatonit' },
    config: { Entrypoint: ['/bin/catatonit', '-P'] },
  };
}
