/** A quantity's text is wrong; the message names it and what is accepted. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const NANO = 1_000_000_000n;
/** Larger numbers are not quantities of anything; also bounds what an exponent may cost. */
const MAX_DIGITS = 40;

const BINARY: Record<string, bigint> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/**
 * A Kubernetes quantity in billionths, exactly; what lies below a billionth is rounded away from zero, as the API's
 * own parser does (apimachinery/pkg/api/resource: ParseQuantity).
 *
 * @param quantity `128Mi`, `0.5`, `500m`, `1e3`, or a bare number
 * @throws QuantityError
 */
export function parseQuantity(quantity: string | number): bigint {
  const text = String(quantity);
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?|[eE][+-]?\d{1,9})$/.exec(text);
  const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!match || whole.length + fraction.length === 0 || whole.length + fraction.length > MAX_DIGITS) throw wrong(text);
  const digits = BigInt(whole + fraction);
  const binary = BINARY[suffix];
  const exponent = binary ? 0 : (DECIMAL[suffix] ?? Number(suffix.slice(1)));
  if (Math.abs(exponent) > MAX_DIGITS) throw wrong(text);
  const scale = exponent - fraction.length;
  const scaled = digits * NANO * (binary ?? 1n);
  const magnitude = scale >= 0 ? scaled * 10n ** BigInt(scale) : ceilDivide(scaled, 10n ** BigInt(-scale));
  return sign === '-' ? -magnitude : magnitude;
}

/** A quantity in thousandths (of a CPU), rounded up. @throws QuantityError */
export function milliValue(quantity: string | number): bigint {
  return ceilDivide(parseQuantity(quantity), NANO / 1000n);
}

/** A quantity in whole units (bytes), rounded up. @throws QuantityError */
export function wholeValue(quantity: string | number): bigint {
  return ceilDivide(parseQuantity(quantity), NANO);
}

function ceilDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b === 0n ? quotient : a > 0n ? quotient + 1n : quotient - 1n;
}

function wrong(text: string): QuantityError {
  return new QuantityError(
    `${JSON.stringify(text.slice(0, 64))} is not a quantity: ` +
      'accepted are a number with n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent (500m, 128Mi, 1e3)',
  );
}
