import { AgentError } from '../../../machines/agent-error.types.ts';
import type { Kube } from '../client.ts';
import { tokenPath } from './paths.ts';

export interface TokenAsked {
  namespace: string;
  serviceAccountName: string;
  /** Empty: the API server's own. */
  audience: string;
  expirationSeconds: number;
  /** The token ends with this pod. */
  pod: { name: string; uid: string };
}

/** A token of a service account, bound to a pod, and how long it lasts, s (TokenRequest). */
export async function createToken(
  kube: Kube,
  { namespace, serviceAccountName, audience, expirationSeconds, pod }: TokenAsked,
  signal?: AbortSignal,
): Promise<{ token: string; expirationSeconds: number }> {
  const op = 'create token';
  const { spec, status } = await kube.request<{
    spec?: { expirationSeconds?: number };
    status?: { token?: string };
  }>({
    op,
    method: 'POST',
    path: tokenPath(namespace, serviceAccountName),
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...pod },
      },
    },
    signal,
  });
  if (status?.token) return { token: status.token, expirationSeconds: spec?.expirationSeconds ?? expirationSeconds };
  const message = `${op}: the API server's answer has no token`;
  throw new AgentError({ op, reason: 'InvalidResponse', message, transient: true });
}
