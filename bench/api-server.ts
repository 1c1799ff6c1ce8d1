import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { connectKube, type WatchEvent } from '../services/kube/client.ts';
import { loadKubeconfig } from '../services/kube/kubeconfig.ts';
import { now } from './pods.ts';

const PODS = '/api/v1/namespaces/default/pods';
/** Longest of any watch here, s. */
const WATCH_S = 86_400;

/** A request that the API server answered. */
export interface Asked {
  verb: string;
  resource: string;
  username: string;
  path: string;
  at: number;
}

/** As much of a Pod or a Node as is looked at. */
interface Seen {
  kind?: string;
  metadata?: { name?: string };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}
type IsSo = (object: Seen, deleted: boolean) => boolean;

/** The API server of the tests as a process of its own, and an administrator's view of it. */
export class ApiProcess {
  readonly pid: number;
  /** Kubeconfig of the node's agent. */
  readonly nodeConfig: string;
  readonly #kube: ReturnType<typeof connectKube>;
  readonly #end: () => Promise<void>;
  readonly #stopping = new AbortController();
  readonly #waiting = new Set<(event: WatchEvent<Seen>) => void>();

  private constructor(pid: number, nodeConfig: string, kube: ReturnType<typeof connectKube>, end: () => Promise<void>) {
    this.pid = pid;
    this.nodeConfig = nodeConfig;
    this.#kube = kube;
    this.#end = end;
  }

  static async start(directory: string, node: string): Promise<ApiProcess> {
    const main = join(import.meta.dirname, '../test/support/apiserver/main.ts');
    const child = spawn(process.execPath, [main, '--dir', directory, '--node', node], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    const end = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    const line = await new Promise<string>((done, failed) => {
      createInterface(child.stdout).once('line', done);
      void ended.then(() => failed(new Error('the API server ended')));
    });
    const { kubeconfigs } = JSON.parse(line) as { kubeconfigs: [string, string] };
    const unlimited = { qps: -1, burst: 0 };
    const config = await loadKubeconfig(kubeconfigs[0]);
    const kube = connectKube(config, { ...unlimited, events: unlimited, userAgent: 'bench' });
    const server = new ApiProcess(child.pid ?? 0, kubeconfigs[1], kube, end);
    for (const path of [PODS, '/api/v1/nodes']) void server.#watch(path);
    await server.#until(async () => {
      const account = { method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts/default' } as const;
      return kube.request(account).then(
        () => true,
        () => false,
      );
    });
    return server;
  }

  /** Creates a pod of the namespace `default`. Answers when it was asked, ms since the epoch. */
  async create(pod: object): Promise<number> {
    const at = now();
    await this.#kube.request({ method: 'POST', path: PODS, body: pod });
    return at;
  }

  /** Asks for the deletion with the pod's own grace. Answers when, ms since the epoch. */
  async remove(name: string): Promise<number> {
    const at = now();
    await this.#kube.request({ method: 'DELETE', path: `${PODS}/${name}` });
    return at;
  }

  async removeNode(name: string): Promise<void> {
    await this.#kube.request({ method: 'DELETE', path: `/api/v1/nodes/${name}` });
  }

  /** When a watch first told of the object so, ms since the epoch, from now on. */
  when(kind: 'Pod' | 'Node', name: string, isSo: IsSo): Promise<number> {
    return new Promise((done) => {
      const look = ({ type, object }: WatchEvent<Seen>) => {
        if (object.kind !== kind || object.metadata?.name !== name || !isSo(object, type === 'DELETED')) return;
        this.#waiting.delete(look);
        done(now());
      };
      this.#waiting.add(look);
    });
  }

  /** What was asked from a time on, ms since the epoch, by the node. */
  async askedSince(at: number, node: string): Promise<Asked[]> {
    const { journal } = await this.#kube.request<{ journal: Asked[] }>({ method: 'POST', path: '/control/journal' });
    return journal.filter((asked) => asked.at >= at && asked.username === `system:node:${node}`);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#kube.close();
    await this.#end();
  }

  async #watch(path: string): Promise<void> {
    const options = { path, query: { resourceVersion: '0', timeoutSeconds: WATCH_S }, signal: this.#stopping.signal };
    const onEvent = (event: WatchEvent<Seen>) => {
      for (const look of [...this.#waiting]) look(event);
    };
    const failure: unknown = await this.#kube.watch({ ...options, onEvent }).catch((error: unknown) => error);
    if (!this.#stopping.signal.aborted) throw new Error(`the watch of ${path} ended`, { cause: failure });
  }

  async #until(look: () => Promise<boolean>): Promise<void> {
    while (!(await look())) await sleep(20);
  }
}

/** What `when` waits for. */
export const seen = {
  running: ({ status }: Seen) => status?.phase === 'Running',
  ready: ({ status }: Seen) => status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false,
  gone: (_: Seen, deleted: boolean) => deleted,
};
