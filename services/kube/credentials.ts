import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { execCredentials } from './exec-plugin.ts';
import { invalid } from './fields.ts';
import type { KubeConfig, Source } from './kube-config.types.ts';

/** Files are read again when they were read so long ago, ms (client-go transport.NewCachedFileTokenSource). */
const REREAD_MS = 60_000;

/** Who the agent is, as of now: files and plugins may give something new at any time. */
export interface ClientCredentials {
  /**
   * Certificates for a new connection; `version` changes with them.
   *
   * @throws AgentError `InvalidKubeconfig`, `ExecPluginFailed`
   */
  tls(): Promise<{ version: number; context?: SecureContext }>;
  /** The Authorization header, if any. @throws as `tls` */
  authorization(): Promise<string | undefined>;
  /** The server did not take what it got (401): all is read again for the next request. */
  refused(): void;
}

/** @param now wall clock, ms */
export function clientCredentials(config: KubeConfig, now: () => number = Date.now): ClientCredentials {
  const file = (source: Source | undefined, field: string) => keepReading(source, config.origin, field, now);
  const ca = file(config.certificateAuthority, 'certificate-authority');
  const cert = file(config.clientCertificate, 'client-certificate');
  const key = file(config.clientKey, 'client-key');
  const token = file(config.token, 'tokenFile');
  const exec = config.exec && execCredentials(config, config.exec, () => ca.get(), now);
  let last: { parts: (string | undefined)[]; version: number; context?: SecureContext } | undefined;

  const parts = async () => {
    const own = await Promise.all([ca.get(), cert.get(), key.get()]);
    if (!exec || own[1]) return own;
    const { clientCertificateData, clientKeyData } = await exec.get();
    return [own[0], clientCertificateData, clientKeyData];
  };

  return {
    async tls() {
      const now = await parts();
      if (last && now.every((part, i) => part === last?.parts[i])) return last;
      const version = (last?.version ?? 0) + 1;
      try {
        const [caPem, certPem, keyPem] = now;
        last = { parts: now, version, context: createSecureContext({ ca: caPem, cert: certPem, key: keyPem }) };
      } catch (error) {
        // Of a pair that is being replaced one half may be old: what was good is used until both are new.
        for (const part of [ca, cert, key]) part.forget();
        if (!last) throw invalid(config.origin, '', `names certificates that do not work: ${(error as Error).message}`);
      }
      return last;
    },
    async authorization() {
      const bearer = (await token.get())?.trim() || (exec && (await exec.get()).token);
      if (bearer) return `Bearer ${bearer}`;
      if (!config.basic) return undefined;
      return `Basic ${Buffer.from(`${config.basic.username}:${config.basic.password}`).toString('base64')}`;
    },
    refused() {
      for (const part of [ca, cert, key, token]) part.forget();
      exec?.refused();
    },
  };
}

/** The text of a source; of a file that has become unreadable or empty the last text. */
function keepReading(source: Source | undefined, origin: string, field: string, now: () => number) {
  let kept: { text: string; at: number } | undefined;
  let reading: Promise<string> | undefined;
  const read = async (path: string) => {
    try {
      const text = await readFile(path, 'utf8');
      if (text.trim() === '') throw new Error('it is empty');
      kept = { text, at: now() };
    } catch (error) {
      if (!kept) throw invalid(origin, field, `${path} cannot be used: ${(error as Error).message}`, error);
      kept = { ...kept, at: now() };
    }
    return kept.text;
  };
  return {
    get(): Promise<string | undefined> {
      if (!source || 'data' in source) return Promise.resolve(source?.data);
      if (kept && Math.abs(now() - kept.at) < REREAD_MS) return Promise.resolve(kept.text);
      reading ??= read(source.file).finally(() => (reading = undefined));
      return reading;
    },
    /** The next `get` reads. */
    forget() {
      if (kept) kept = { ...kept, at: -Infinity };
    },
  };
}
