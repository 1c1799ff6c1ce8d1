import { join } from 'node:path';
import { invalid } from './fields.ts';
import type { KubeConfig } from './kube-config.types.ts';

/** Where a pod finds its service account. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The API server of the cluster that this process runs in as a pod (client-go rest.InClusterConfig).
 *
 * @throws AgentError `InvalidKubeconfig` where the environment does not name one
 */
export function inClusterConfig(env: Record<string, string | undefined>, folder = FOLDER): KubeConfig {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port)
    throw invalid(
      'environment',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT',
      'are not set: not in a cluster',
    );
  return {
    origin: folder,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    certificateAuthority: { file: join(folder, 'ca.crt') },
    insecureSkipTlsVerify: false,
    token: { file: join(folder, 'token') },
  };
}
