import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, mkdir, readFile, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectCri } from '../../services/cri/client.ts';
import type { Cri } from '../../services/cri/client.ts';
import { imageStatus } from '../../services/cri/verbs/image-status.ts';
import { listPodSandbox } from '../../services/cri/verbs/list-pod-sandbox.ts';
import { removePodSandbox } from '../../services/cri/verbs/remove-pod-sandbox.ts';
import { status } from '../../services/cri/verbs/status.ts';
import { stopPodSandbox } from '../../services/cri/verbs/stop-pod-sandbox.ts';
import { buildImage, busyboxImage, pauseImage } from './oci-image.ts';
import type { ImageRecipe } from './oci-image.ts';

const run = promisify(execFile);

const PAUSE_IMAGE = 'statelet.test/pause:1';
const BUSYBOX_IMAGES = ['docker.io/library/busybox:1.35', 'docker.io/library/busybox:latest'];
const CNI_PLUGINS = '/usr/lib/cni';
const OVERLAYFS_MAGIC = 0x794c7630;
/** Longest wait for the daemon to answer or to end, ms. */
const PATIENCE_MS = 30_000;
const PARALLEL_REMOVALS = 4;

export interface PrivateContainerd {
  /** `unix:///…` */
  endpoint: string;
  directory: string;
  /** Imports one more image and waits until CRI has it. */
  addImage(recipe: ImageRecipe): Promise<void>;
  /** Ends the daemon alone; containers go on. */
  stopDaemon(): Promise<void>;
  startDaemon(): Promise<void>;
  /** Ends every container, the shims and the daemon, unmounts what is left and removes the directory. */
  stop(): Promise<void>;
}

/**
 * Starts a containerd of its own below an empty directory: root, state, socket and CNI configuration are private, so
 * that it touches no other containerd of the machine. Needs root and, from Debian: containerd, runc,
 * containernetworking-plugins, busybox-static and catatonit.
 *
 * Images in it: `busybox:1.35` and `busybox:latest` (one image), and the pause image.
 */
export async function startContainerd(directory: string): Promise<PrivateContainerd> {
  const base = resolve(directory);
  const socket = join(base, 'containerd.sock');
  const endpoint = `unix://${socket}`;
  await mkdir(join(base, 'cni/conf'), { recursive: true });
  await writeFile(join(base, 'cni/conf/10-pods.conflist'), JSON.stringify(network(base)));
  await writeFile(join(base, 'config.toml'), await configuration(base, socket));
  const cri = connectCri({ runtimeEndpoint: endpoint, runtimeRequestTimeoutMs: PATIENCE_MS });
  let daemon: ChildProcess | undefined;
  let images = 0;

  const containerd: PrivateContainerd = {
    endpoint,
    directory: base,
    async addImage(recipe) {
      images += 1;
      const file = await buildImage(join(base, 'images', String(images)), recipe);
      await run('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', '--no-unpack', file]);
      for (const name of recipe.names)
        await eventually(`image ${name}`, async () => (await imageStatus(cri, name)) !== undefined);
    },
    async startDaemon() {
      daemon = await launch(base);
      await eventually('containerd', () => isReady(cri)).catch(async (error: unknown) => {
        throw new Error(`${String(error)}\n${await readFile(join(base, 'containerd.log'), 'utf8')}`);
      });
    },
    async stopDaemon() {
      if (daemon) await end(daemon);
      daemon = undefined;
    },
    async stop() {
      if (!daemon) await containerd.startDaemon();
      const sandboxes = await listPodSandbox(cri, {});
      const removeNext = async (): Promise<void> => {
        const next = sandboxes.pop();
        if (!next) return;
        await stopPodSandbox(cri, next.id);
        await removePodSandbox(cri, next.id);
        await removeNext();
      };
      await Promise.all(Array.from({ length: PARALLEL_REMOVALS }, removeNext));
      cri.close();
      await containerd.stopDaemon();
      await endShims(socket);
      await unmountBelow(base);
      await rm(base, { recursive: true });
    },
  };
  await containerd.startDaemon();
  for (const recipe of [pauseImage(PAUSE_IMAGE), await busyboxImage(BUSYBOX_IMAGES)]) await containerd.addImage(recipe);
  return containerd;
}

async function configuration(base: string, socket: string): Promise<string> {
  // overlayfs cannot stack on itself.
  const snapshotter = (await statfs(base)).type === OVERLAYFS_MAGIC ? 'native' : 'overlayfs';
  const cri = '[plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${base}/root"
state = "${base}/state"

[grpc]
  address = "${socket}"

${cri}]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

${cri}.containerd]
  snapshotter = "${snapshotter}"
  default_runtime_name = "runc"

${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false

${cri}.cni]
  bin_dir = "${CNI_PLUGINS}"
  conf_dir = "${base}/cni/conf"
`;
}

/** One pair of interfaces a pod and no bridge, so that nothing of it outlives the pods. */
function network(base: string): unknown {
  const third = createHash('sha256').update(base).digest()[0] ?? 0;
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: join(base, 'cni/ipam'),
          ranges: [[{ subnet: `10.${100 + (third % 100)}.0.0/16` }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  };
}

async function launch(base: string): Promise<ChildProcess> {
  const log = await open(join(base, 'containerd.log'), 'a');
  const stdio = ['ignore', log.fd, log.fd] as const;
  const child = spawn('containerd', ['--config', join(base, 'config.toml')], { stdio: [...stdio], cwd: '/' });
  await new Promise((done, failed) => child.once('spawn', done).once('error', failed));
  await log.close();
  return child;
}

async function isReady(cri: Cri): Promise<boolean> {
  const conditions = (await status(cri)).status?.conditions ?? [];
  return conditions.length >= 2 && conditions.every((condition) => condition.status);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await exited;
  clearTimeout(force);
}

/** Shims outlive their daemon; ours are those that were given our socket. */
async function endShims(socket: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const words = command.split('\0');
    if (!words[0]?.includes('containerd-shim') || !words.includes(socket)) continue;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const child of children.split(' ').filter(Boolean)) killIfThere(Number(child));
    killIfThere(Number(pid));
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function unmountBelow(base: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
  for (const point of mounts.filter((path) => path.startsWith(`${base}/`)).reverse())
    await run('umount', ['-l', point]);
}

/** Waits until `look` says true; what it throws meanwhile is the reason given when patience ends. */
async function eventually(what: string, look: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  let reason: unknown = 'not yet';
  while (performance.now() < until) {
    try {
      if (await look()) return;
    } catch (error) {
      reason = error;
    }
    await sleep(50);
  }
  throw new Error(`${what} did not become ready in ${PATIENCE_MS / 1000} s: ${String(reason)}`);
}
