const NANOSECONDS: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const MAX = 2n ** 63n - 1n;

/** What messages say is accepted. */
export const DURATION_FORM = 'a duration in Go\'s form such as "10s", "1m30s" or "1.5h" (units ns, us, ms, s, m, h)';

/** A duration in Go's form (time.ParseDuration) in nanoseconds; undefined where it is none, or beyond 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const [, sign, rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0n;
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest) || rest.length > 128) return undefined;
  let total = 0n;
  for (const [, number = '', unit = ''] of rest.matchAll(/([\d.]+)([a-zµμ]+)/g)) {
    const [whole, fraction = ''] = number.split('.');
    const scale = NANOSECONDS[unit] ?? 1n;
    total += BigInt(whole || '0') * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length);
  }
  if (total > MAX) return undefined;
  return sign === '-' ? -total : total;
}

/** Nanoseconds as Go prints them (time.Duration.String): `1m0s`, `1.5s`, `100ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`;
  if (nanoseconds === 0n) return '0s';
  const fraction = (value: bigint, unit: bigint) => {
    const rest = (value % unit).toString().padStart(unit.toString().length - 1, '0');
    const digits = unit === 1n ? '' : rest.replace(/0+$/, '');
    return `${value / unit}${digits ? `.${digits}` : ''}`;
  };
  if (nanoseconds < 1000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${fraction(nanoseconds, 1000n)}µs`;
  if (nanoseconds < 1_000_000_000n) return `${fraction(nanoseconds, 1_000_000n)}ms`;
  const hours = nanoseconds / 3_600_000_000_000n;
  const minutes = (nanoseconds / 60_000_000_000n) % 60n;
  const seconds = `${fraction(nanoseconds % 60_000_000_000n, 1_000_000_000n)}s`;
  if (hours) return `${hours}h${minutes}m${seconds}`;
  return minutes ? `${minutes}m${seconds}` : seconds;
}

/** Milliseconds of a duration that the configuration has checked already. @throws RangeError where it is no duration */
export function durationMs(text: string): number {
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined) throw new RangeError(`${JSON.stringify(text)} is not ${DURATION_FORM}`);
  return Number(nanoseconds) / 1e6;
}
