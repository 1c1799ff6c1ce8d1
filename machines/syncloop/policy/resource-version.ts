/**
 * Whether one resourceVersion is newer than another of the same resource. They are decimal numbers that grow with each
 * write (KEP-5504), too long for a JavaScript number.
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
