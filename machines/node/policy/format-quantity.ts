const KI = 1024n;
const SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Bytes as the API writes them (quantity.go:CanonicalizeBytes, BinarySI): the largest suffix that loses nothing. */
export function binaryQuantity(bytes: bigint): string {
  let value = bytes;
  let power = 0;
  while (value !== 0n && value % KI === 0n && power < SUFFIXES.length - 1) {
    value /= KI;
    power += 1;
  }
  return `${value}${SUFFIXES[power]}`;
}

/** Thousandths of a CPU as the API writes them: whole ones where it is whole. */
export function cpuQuantity(milli: bigint): string {
  return milli % 1000n === 0n ? String(milli / 1000n) : `${milli}m`;
}
