import { execFile } from 'node:child_process';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { ExecPlugin, KubeConfig } from './kube-config.types.ts';

/** What a plugin's ExecCredential has in its status. */
export interface ExecCredential {
  token?: string;
  clientCertificateData?: string;
  clientKeyData?: string;
}

/** Longest time that a plugin may take, ms, and longest answer, bytes. */
const DEADLINE_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** A credential that was refused is not asked for again sooner, ms: a plugin may be dear. */
const REFUSED_MS = 10_000;
/** Longest part of what a plugin complains of, in a message. */
const MAX_COMPLAINT_CHARS = 300;

/** Credentials of a plugin, kept until they expire or are refused. */
export interface ExecCredentials {
  /** @throws AgentError `ExecPluginFailed` */
  get(): Promise<ExecCredential>;
  /** The server took them no longer. */
  refused(): void;
}

/** @param now wall clock, ms */
export function execCredentials(
  config: KubeConfig,
  plugin: ExecPlugin,
  ca: () => Promise<string | undefined>,
  now: () => number,
): ExecCredentials {
  let kept: { credential: ExecCredential; at: number; until: number } | undefined;
  let running: Promise<ExecCredential> | undefined;
  const refresh = async () => {
    const info = JSON.stringify({
      apiVersion: plugin.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster: clusterInfo(config, await ca()) } : {}) },
    });
    const { expirationTimestamp, ...credential } = readCredential(plugin, await run(plugin, info));
    const until = expirationTimestamp ? Date.parse(expirationTimestamp) : Infinity;
    kept = { credential, at: now(), until };
    return credential;
  };
  return {
    get() {
      if (kept && now() < kept.until) return Promise.resolve(kept.credential);
      running ??= refresh().finally(() => (running = undefined));
      return running;
    },
    refused() {
      if (kept && now() - kept.at >= REFUSED_MS) kept = undefined;
    },
  };
}

function clusterInfo(config: KubeConfig, ca: string | undefined): object {
  return {
    server: config.server,
    'tls-server-name': config.tlsServerName,
    'insecure-skip-tls-verify': config.insecureSkipTlsVerify || undefined,
    'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
    'proxy-url': config.proxyUrl,
    config: config.exec?.clusterConfig,
  };
}

function run(plugin: ExecPlugin, info: string): Promise<string> {
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: info };
  return new Promise((resolve, reject) => {
    const options = { env, timeout: DEADLINE_MS, maxBuffer: MAX_OUTPUT_BYTES, killSignal: 'SIGKILL' } as const;
    execFile(plugin.command, plugin.args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      if (error.code === ('ENOENT' as unknown))
        return reject(failed(plugin, `is not there. ${plugin.installHint ?? ''}`));
      // Not the error's own message: that has the arguments, which may be secret.
      const how = error.killed
        ? `did not end within ${DEADLINE_MS / 1000} s`
        : `ended with ${error.code ?? error.signal}`;
      reject(failed(plugin, `${how}: ${stderr.trim().slice(0, MAX_COMPLAINT_CHARS)}`));
    }).stdin?.end();
  });
}

function readCredential(plugin: ExecPlugin, text: string): ExecCredential & { expirationTimestamp?: string } {
  let answer: { apiVersion?: string; kind?: string; status?: ExecCredential & { expirationTimestamp?: string } };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    // Not the parser's message: that quotes what may be a token.
    throw failed(plugin, 'did not answer with JSON');
  }
  if (answer.kind !== 'ExecCredential' || answer.apiVersion !== plugin.apiVersion)
    throw failed(plugin, `did not answer with an ExecCredential of ${plugin.apiVersion}`);
  const { status } = answer;
  if (!status || (!status.token && !(status.clientCertificateData && status.clientKeyData)))
    throw failed(plugin, 'gave neither status.token nor status.clientCertificateData with clientKeyData');
  return status;
}

function failed(plugin: ExecPlugin, what: string): AgentError {
  const message = `credential plugin ${plugin.command} ${what}`.trim();
  return new AgentError({ op: 'get credentials', reason: 'ExecPluginFailed', message, transient: true });
}
