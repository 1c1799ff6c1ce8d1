/** Bytes of one manifest (config/common.go:maxConfigLength). */
export const MAX_MANIFEST = 10 * 1024 * 1024;

/** A manifest's text. @throws Error that says what is wrong with the bytes */
export function decodeManifest(bytes: Uint8Array): string {
  if (bytes.length > MAX_MANIFEST) throw new Error('is larger than 10 MiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error('is not UTF-8 text', { cause: error });
  }
}
