const FNV32_OFFSET = 0x811c9dc5;
const FNV32_PRIME = 0x01000193;

/** FNV-1a, 32 bits, of bytes; an unsigned integer. */
export function fnv1a32(bytes: Uint8Array): number {
  let hash = FNV32_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV32_PRIME) >>> 0;
  return hash;
}

const LIMB = 2 ** 32;
/** The 128-bit prime is 2^88 + 0x13b. */
const FNV128_PRIME_LOW = 0x13b;

/**
 * FNV-1a, 128 bits, of bytes; 32 lower-case hex digits. Computed in four 32-bit limbs: BigInt would take seconds for
 * the largest manifest.
 */
export function fnv1a128(bytes: Uint8Array): string {
  let [low, second, third, high] = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e];
  for (const byte of bytes) {
    const mixed = (low ^ byte) >>> 0;
    const p0 = mixed * FNV128_PRIME_LOW;
    const p1 = second * FNV128_PRIME_LOW + Math.floor(p0 / LIMB);
    const p2 = third * FNV128_PRIME_LOW + Math.floor(p1 / LIMB) + ((mixed << 24) >>> 0);
    const p3 = high * FNV128_PRIME_LOW + Math.floor(p2 / LIMB) + (mixed >>> 8) + ((second << 24) >>> 0);
    [low, second, third, high] = [p0 % LIMB, p1 % LIMB, p2 % LIMB, p3 % LIMB];
  }
  return [high, third, second, low].map((limb) => limb.toString(16).padStart(8, '0')).join('');
}
