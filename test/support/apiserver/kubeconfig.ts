import { stringify } from 'yaml';
import type { KeyPair } from './certificates.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig with one cluster and one user, everything within the file. */
export function kubeconfig(server: string, ca: string, user: string, { certificate, key }: KeyPair): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: user, user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  });
}
