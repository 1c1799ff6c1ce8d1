let last = 0n;

/** Nanoseconds since the epoch, strictly increasing within this process so that times also order what they stamp. */
export function nowNs(): bigint {
  const now = BigInt(Date.now()) * 1_000_000n;
  last = now > last ? now : last + 1n;
  return last;
}

/** RFC 3339 with nine decimals, as the CRI log format has it: `2026-01-31T08:00:00.123000001Z`. */
export function rfc3339Nano(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`;
}
