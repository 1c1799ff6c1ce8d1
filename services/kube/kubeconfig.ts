import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { AgentError } from '../../machines/agent-error.types.ts';

/** A value that stands in the kubeconfig, or the path of a file that has it and may change. */
export type Source = { data: string } | { file: string };

/** A program that gives credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  apiVersion: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  installHint?: string;
  provideClusterInfo: boolean;
}

/** How to reach an API server, and as whom: the current context of a kubeconfig, or a pod's service account. */
export interface KubeConfig {
  /** Path of the file, for errors. */
  origin: string;
  /** `https://host:port`, with a path where the API is below one. */
  server: string;
  certificateAuthority?: Source;
  tlsServerName?: string;
  insecureSkipTlsVerify: boolean;
  proxyUrl?: string;
  clientCertificate?: Source;
  clientKey?: Source;
  token?: Source;
  basic?: { username: string; password: string };
  exec?: ExecPlugin;
}

type Fields = Record<string, unknown>;

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
/** Ways to be someone that a node has no use for, or that Kubernetes has given up. */
const UNSUPPORTED = ['auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

/**
 * The current context of a kubeconfig; relative paths are taken from its folder, a file wins over data for tokens and data
 * over a file for certificates (client-go clientcmd).
 *
 * @throws AgentError `InvalidKubeconfig` that names file and field, never a value
 */
export async function loadKubeconfig(path: string): Promise<KubeConfig> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw invalid(path, '', `cannot be read: ${error.code ?? error.message}`, error);
  });
  return parseKubeconfig(path, text);
}

/** `loadKubeconfig` of a text; `path` is where relative paths are taken from and what errors name. */
export function parseKubeconfig(path: string, text: string): KubeConfig {
  const look = new Look(path);
  let whole: unknown;
  try {
    whole = parse(text);
  } catch (error) {
    // A parser's message quotes the line, which may be a key.
    const { linePos } = error as { linePos?: [{ line: number }] };
    throw invalid(path, '', `is neither YAML nor JSON${linePos ? ` (line ${linePos[0].line})` : ''}`);
  }
  const root = look.object(whole ?? {}, '');
  const context = look.string(root, 'current-context', '');
  if (!context) throw invalid(path, 'current-context', 'is not set: accepted is the name of one of contexts');
  const refs = look.named(root, 'contexts', context, 'context');
  const cluster = look.named(root, 'clusters', look.needed(refs, 'cluster'), 'cluster');
  const user = look.named(root, 'users', look.needed(refs, 'user'), 'user');
  for (const field of UNSUPPORTED)
    if (user.of[field] !== undefined) throw invalid(path, `${user.at}.${field}`, 'is not supported');

  const server = look.needed(cluster, 'server');
  const token = look.string(user.of, 'tokenFile', user.at)
    ? look.file(user, 'tokenFile')
    : dataOf(look.string(user.of, 'token', user.at));
  const username = look.string(user.of, 'username', user.at);
  const config: KubeConfig = {
    origin: path,
    server: look.url(server, `${cluster.at}.server`, ['https:', 'http:']),
    certificateAuthority: look.pem(cluster, 'certificate-authority'),
    tlsServerName: look.string(cluster.of, 'tls-server-name', cluster.at),
    insecureSkipTlsVerify: look.boolean(cluster.of, 'insecure-skip-tls-verify', cluster.at),
    clientCertificate: look.pem(user, 'client-certificate'),
    clientKey: look.pem(user, 'client-key'),
    token,
    ...(username ? { basic: { username, password: look.string(user.of, 'password', user.at) ?? '' } } : {}),
    ...(user.of.exec === undefined ? {} : { exec: look.exec(user) }),
  };
  const proxyUrl = look.string(cluster.of, 'proxy-url', cluster.at);
  if (proxyUrl) config.proxyUrl = look.url(proxyUrl, `${cluster.at}.proxy-url`, ['http:']);
  if (config.insecureSkipTlsVerify && config.certificateAuthority)
    throw invalid(
      path,
      `${cluster.at}.insecure-skip-tls-verify`,
      'cannot be true where a certificate authority is given',
    );
  if (!config.clientCertificate !== !config.clientKey)
    throw invalid(path, user.at, 'needs both client-certificate and client-key, or none of them');
  return config;
}

const dataOf = (data: string | undefined): Source | undefined => (data ? { data } : undefined);

/** An entry of one of the lists, and where it stands. */
interface Entry {
  of: Fields;
  at: string;
}

/** Reads fields and says of each that is wrong which it is. */
class Look {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  object(value: unknown, at: string): Fields {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
    throw invalid(this.#path, at, 'is not an object');
  }

  list(value: unknown, at: string): unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    throw invalid(this.#path, at, 'is not a list');
  }

  string(of: Fields, field: string, at: string): string | undefined {
    const value = of[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value === 'string') return value;
    throw invalid(this.#path, at ? `${at}.${field}` : field, 'is not a string');
  }

  boolean(of: Fields, field: string, at: string): boolean {
    const value = of[field] ?? false;
    if (typeof value === 'boolean') return value;
    throw invalid(this.#path, `${at}.${field}`, 'is not a boolean: accepted are true and false');
  }

  needed({ of, at }: Entry, field: string): string {
    const value = this.string(of, field, at);
    if (value === undefined) throw invalid(this.#path, `${at}.${field}`, 'is not set');
    return value;
  }

  named(root: Fields, list: string, name: string, field: string): Entry {
    const entries = this.list(root[list], list).map((entry, i) => this.object(entry, `${list}[${i}]`));
    const index = entries.findIndex((entry) => entry.name === name);
    if (index < 0) {
      const names = entries.map((entry) => JSON.stringify(entry.name)).join(', ');
      throw invalid(this.#path, list, `has no ${JSON.stringify(name)}: there ${names ? `is ${names}` : 'are none'}`);
    }
    const at = `${list}[${index}].${field}`;
    return { of: this.object(entries[index]?.[field] ?? {}, at), at };
  }

  url(value: string, at: string, protocols: string[]): string {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url && protocols.includes(url.protocol)) return value;
    throw invalid(this.#path, at, `is not a URL that can be used: accepted are ${protocols.join(' and ')}//host:port`);
  }

  file({ of, at }: Entry, field: string): Source {
    const value = this.needed({ of, at }, field);
    return { file: isAbsolute(value) ? value : resolve(dirname(this.#path), value) };
  }

  /** `<field>-data` (base64), else the file at `<field>`. */
  pem(entry: Entry, field: string): Source | undefined {
    const data = this.string(entry.of, `${field}-data`, entry.at);
    if (data !== undefined) {
      const decoded = Buffer.from(data, 'base64').toString('utf8');
      if (decoded.includes('-----BEGIN')) return { data: decoded };
      throw invalid(this.#path, `${entry.at}.${field}-data`, 'is not the base64 of PEM');
    }
    return this.string(entry.of, field, entry.at) === undefined ? undefined : this.file(entry, field);
  }

  exec(user: Entry): ExecPlugin {
    const entry = { of: this.object(user.of.exec, `${user.at}.exec`), at: `${user.at}.exec` };
    const apiVersion = this.needed(entry, 'apiVersion');
    if (!EXEC_VERSIONS.includes(apiVersion))
      throw invalid(this.#path, `${entry.at}.apiVersion`, `is not supported: accepted are ${EXEC_VERSIONS.join(', ')}`);
    if (this.string(entry.of, 'interactiveMode', entry.at) === 'Always')
      throw invalid(this.#path, `${entry.at}.interactiveMode`, 'cannot be Always: there is no terminal');
    const command = this.needed(entry, 'command');
    const env = this.list(entry.of.env, `${entry.at}.env`).map((item, i) => {
      const at = `${entry.at}.env[${i}]`;
      const pair = { of: this.object(item, at), at };
      return [this.needed(pair, 'name'), this.string(pair.of, 'value', at) ?? ''] as const;
    });
    return {
      apiVersion,
      command: command.includes('/') && !isAbsolute(command) ? join(dirname(this.#path), command) : command,
      args: this.list(entry.of.args, `${entry.at}.args`).map(String),
      env: Object.fromEntries(env),
      installHint: this.string(entry.of, 'installHint', entry.at),
      provideClusterInfo: this.boolean(entry.of, 'provideClusterInfo', entry.at),
    };
  }
}

/** What is wrong with a kubeconfig or with what it names. */
export function invalid(origin: string, field: string, what: string, cause?: unknown): AgentError {
  return new AgentError({
    op: 'load kubeconfig',
    reason: 'InvalidKubeconfig',
    message: `${origin}: ${field ? `${field} ` : ''}${what}`,
    transient: false,
    cause,
  });
}
