/** Who asks, as authentication found out. */
export interface User {
  username: string;
  uid?: string;
  groups: readonly string[];
}

export const ANONYMOUS: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
/** The server's own controllers. */
export const LOOPBACK: User = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

/** The node's name when the user is a kubelet (`system:node:<name>` of group `system:nodes`), else undefined. */
export function nodeNameOf({ username, groups }: User): string | undefined {
  return groups.includes('system:nodes') && username.startsWith('system:node:')
    ? username.slice('system:node:'.length)
    : undefined;
}
