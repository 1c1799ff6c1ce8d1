/**
 * Whether a container ended well: exit code 0, unless the kernel killed a part of it for want of memory. One rule for
 * the status that is shown and for the next step (B038).
 */
export function succeeded(ended: { exitCode?: number; reason?: string }): boolean {
  return ended.exitCode === 0 && ended.reason !== 'OOMKilled';
}
