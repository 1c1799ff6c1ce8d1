import { fnv1a32 } from './fnv.ts';

/**
 * The `io.kubernetes.container.hash` annotation: it covers name and image only, so that a container which a kubelet
 * started is recognised as its spec's own. The hashed text is Go's print of the bytes of a JSON object with sorted keys
 * and HTML escaping, as test/facts/container-hash-vectors.tsv describes (container/helpers.go:HashContainer).
 *
 * @returns lower-case hex without padding
 */
export function containerHash(container: { name: string; image?: string }): string {
  const json = goJson({ image: container.image ?? '', name: container.name });
  const bytes = new TextEncoder().encode(json);
  return fnv1a32(new TextEncoder().encode(`([]uint8)[${bytes.join(' ')}]`)).toString(16);
}

/** Go's encoder escapes these five in every string. */
function goJson(value: Record<string, string>): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
