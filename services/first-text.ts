/**
 * The beginning of what may be longer, as text; a character that the cut would halve is left out.
 *
 * @param max bytes of UTF-8 to read
 */
export function firstText(bytes: Uint8Array, max: number): string {
  return new TextDecoder().decode(bytes.subarray(0, max), { stream: bytes.length > max });
}
