import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeConfig } from './kube-config.types.ts';

/** Where a pod finds its service account. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The API server of the cluster that this process runs in as a pod; undefined where it runs in none (client-go
 * rest.InClusterConfig).
 */
export async function inClusterConfig(
  env: Record<string, string | undefined>,
  folder = FOLDER,
): Promise<KubeConfig | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const token = join(folder, 'token');
  const isFile = await stat(token).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!host || !port || !isFile) return undefined;
  return {
    origin: folder,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    certificateAuthority: { file: join(folder, 'ca.crt') },
    insecureSkipTlsVerify: false,
    token: { file: token },
  };
}
