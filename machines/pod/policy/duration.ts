/**
 * A duration as Go prints it (time.Duration.String), which is how it stands in the kubelet's messages: `10s`, `1m20s`,
 * `5m0s`, `1.5s`, `850ms`. `ms` is rounded to whole milliseconds, for sums of monotonic times have a rest, and not negative.
 */
export function goDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole === 0) return '0s';
  if (whole < 1000) return `${whole}ms`;
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = `${(whole % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
