import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { invalid, Look, type Entry } from './fields.ts';
import { inClusterConfig } from './in-cluster.ts';
import type { KubeConfig, ExecPlugin, Source } from './kube-config.types.ts';

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
/** Ways to be someone that a node has no use for, or that Kubernetes has given up. */
const UNSUPPORTED = ['auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

/**
 * The current context of a kubeconfig; relative paths are taken from its folder, a file wins over data for tokens and data
 * over a file for certificates (client-go clientcmd). An empty file means the cluster that the agent runs in as a pod,
 * where it does (clientcmd/merged_client_builder.go:ClientConfig).
 *
 * @param env the process's
 * @param serviceAccount the folder of the pod's service account, other than Kubernetes' in tests
 * @throws AgentError `InvalidKubeconfig` that names file and field, never a value
 */
export async function loadKubeconfig(
  path: string,
  env: Record<string, string | undefined> = {},
  serviceAccount?: string,
): Promise<KubeConfig> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw invalid(path, '', `cannot be read: ${error.code ?? error.message}`, error);
  });
  const inCluster = text.trim() === '' ? await inClusterConfig(env, serviceAccount) : undefined;
  return inCluster ?? parseKubeconfig(path, text);
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
    ...(user.of.exec === undefined ? {} : { exec: execPlugin(look, path, user, cluster) }),
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

function execPlugin(look: Look, path: string, user: Entry, cluster: Entry): ExecPlugin {
  const entry = { of: look.object(user.of.exec, `${user.at}.exec`), at: `${user.at}.exec` };
  const apiVersion = look.needed(entry, 'apiVersion');
  if (!EXEC_VERSIONS.includes(apiVersion))
    throw invalid(path, `${entry.at}.apiVersion`, `is not supported: accepted are ${EXEC_VERSIONS.join(', ')}`);
  if (look.string(entry.of, 'interactiveMode', entry.at) === 'Always')
    throw invalid(path, `${entry.at}.interactiveMode`, 'cannot be Always: there is no terminal');
  const command = look.needed(entry, 'command');
  const env = look.list(entry.of.env, `${entry.at}.env`).map((item, i) => {
    const at = `${entry.at}.env[${i}]`;
    const pair = { of: look.object(item, at), at };
    return [look.needed(pair, 'name'), look.string(pair.of, 'value', at) ?? ''] as const;
  });
  const extensions = look.list(cluster.of.extensions, `${cluster.at}.extensions`);
  const own = extensions
    .map((item, i) => look.object(item, `${cluster.at}.extensions[${i}]`))
    .find(({ name }) => name === 'client.authentication.k8s.io/exec');
  return {
    apiVersion,
    clusterConfig: own?.extension,
    command: command.includes('/') && !isAbsolute(command) ? join(dirname(path), command) : command,
    args: look.list(entry.of.args, `${entry.at}.args`).map(String),
    env: Object.fromEntries(env),
    installHint: look.string(entry.of, 'installHint', entry.at),
    provideClusterInfo: look.boolean(entry.of, 'provideClusterInfo', entry.at),
  };
}
