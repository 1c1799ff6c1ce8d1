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
  /** What the cluster's extension `client.authentication.k8s.io/exec` holds for the plugin. */
  clusterConfig?: unknown;
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
