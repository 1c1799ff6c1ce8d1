import { open } from 'node:fs/promises';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { DesiredPod } from '../../machines/kubernetes.types.ts';
import { limitResolver, loopbackResolver, parseResolvConf, searchExcess } from './dns.ts';
import type { Resolver } from './dns.ts';
import type { DNSConfig } from './proto/generated/cri.ts';

/** Largest resolv.conf that is read, bytes (network/dns/dns.go:maxResolvConfLength). */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/**
 * The node's resolver for pods (dnsPolicy Default, and ClusterFirst on a node without a cluster DNS). The file is read
 * for each sandbox, as the node's configuration may change.
 *
 * @param resolvConf path; empty: no file, pods resolve nothing by it
 * @param onCut told what was left out, once for each pod and text
 */
export function hostResolver(
  resolvConf: string,
  onCut: (pod: DesiredPod, message: string) => void,
): (pod: DesiredPod) => Promise<DNSConfig> {
  const told = new WeakMap<DesiredPod, Set<string>>();
  return async (pod) => {
    const resolver = resolvConf === '' ? loopbackResolver(false) : await readResolver(resolvConf);
    const { dns, cuts } = limitResolver(resolver);
    const known = told.get(pod) ?? new Set();
    told.set(pod, known);
    for (const cut of cuts.filter((text) => !known.has(text))) onCut(pod, cut);
    cuts.forEach((cut) => known.add(cut));
    return dns;
  };
}

/**
 * What is wrong with the node's resolver for pods, for a look at it when the agent starts
 * (network/dns/dns.go:CheckLimitsForResolvConf): the first of what there is.
 *
 * @param resolvConf path; empty: no file, nothing can be wrong
 */
export async function resolverProblem(resolvConf: string): Promise<string | undefined> {
  if (resolvConf === '') return undefined;
  try {
    return searchExcess(resolvConf, await readResolver(resolvConf));
  } catch (error) {
    return AgentError.from(error, 'resolvConf').message;
  }
}

async function readResolver(path: string): Promise<Resolver> {
  const refuse = (message: string, cause?: unknown) =>
    new AgentError({ op: 'resolvConf', reason: 'DNSConfigForming', message, transient: true, cause });
  try {
    const file = await open(path);
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(MAX_FILE_BYTES, (await file.stat()).size)));
      return parseResolvConf(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw refuse(`resolvConf ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}
