import { DEFAULT_INSPECT_ADDRESS } from './inspect-address.ts';
import type { FlagRow } from './tables.types.ts';

/** What the flags without a field do. */
const HELP: Readonly<Record<string, string>> = {
  'bootstrap-kubeconfig': 'kubeconfig used to ask for the first client certificate',
  'cert-dir': 'folder of the certificates',
  'cloud-provider': 'external where a cloud controller looks after the node, else empty',
  config: 'file with the KubeletConfiguration',
  'config-dir': 'folder of drop-ins (*.conf) merged over the file, in the order of their paths',
  'exit-on-lock-contention': 'end when another process wants the lock file',
  'experimental-allocatable-ignore-eviction': 'leave hard eviction thresholds out of the allocatable resources',
  'experimental-mounter-path': 'program to mount with',
  help: 'show this',
  'hostname-override': "the node's name instead of the host's",
  'image-credential-provider-bin-dir': 'folder of the credential provider programs',
  'image-credential-provider-config': 'file with the CredentialProviderConfig',
  kubeconfig: 'kubeconfig of the API server; without it the agent runs static pods alone',
  'lock-file': 'file to hold a lock on',
  'maximum-dead-containers': 'dead containers kept on the node, -1 for any number',
  'maximum-dead-containers-per-container': 'dead instances kept of each container',
  'minimum-container-ttl-duration': 'how long a dead container is kept at least',
  'node-ip': "the node's IP address, or one IPv4 and one IPv6",
  'node-labels': 'labels set when the node registers',
  quickstart:
    'try it out: examples/ on containerd, else on the embedded runtime, with its state kept in ~/.local/state/statelet/quickstart',
  'root-dir': 'folder for pods, volumes and state',
  'runtime-cgroups': 'cgroup of the container runtime, for its own statistics',
  'container-logs-dir': 'folder of the links to container logs, for log collectors; empty: none are made',
  'strict-config': 'an unknown or repeated field in a configuration file is an error',
  inspect: `serve a page that shows the statecharts live, on a loopback address: \`--inspect\` is ${DEFAULT_INSPECT_ADDRESS}, \`--inspect=<port>\` and \`--inspect=<address>:<port>\` name another`,
  'inspect-write': 'let the pages of --inspect send events to the actors',
  version: 'show the version',
};

/** One line of help for a flag. */
export function flagHelp(row: FlagRow): string {
  if (row.group === 'windows only') return 'accepted, has an effect on Windows only';
  if (row.group.startsWith('global(')) return 'accepted for compatibility, has no effect';
  return HELP[row.name] ?? (row.field ? `sets ${row.field}` : row.group);
}
