import type { Container } from '../../kubernetes.types.ts';

export type ImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** The parts of an image reference; the name is as written, without registry or tag added. */
interface ImageReference {
  name: string;
  tag?: string;
  digest?: string;
}

type ParsedImage = { ok: true; reference: ImageReference } | { ok: false; message: string };

/** No reference is longer than a name (255), a tag (128) and a digest together; also bounds the matching. */
const MAX_REFERENCE = 1024;
const MAX_NAME = 255;

const DOMAIN_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const DOMAIN = `(?:${DOMAIN_LABEL}(?:\\.${DOMAIN_LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const PATH = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const REPOSITORY = new RegExp(`^(?:(${DOMAIN})/)?(${PATH}(?:/${PATH})*)$`);
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const DIGEST_LENGTHS: Record<string, number> = { sha256: 64, sha384: 96, sha512: 128 };

/** Reads an image reference by the grammar of the distribution project (reference/reference.go). */
function parseImage(image: string): ParsedImage {
  const failed = (why: string): ParsedImage => ({
    ok: false,
    message: `couldn't parse image name ${JSON.stringify(image.slice(0, MAX_REFERENCE))}: ${why}`,
  });
  if (image.length > MAX_REFERENCE) return failed('invalid reference format');
  if (/^[a-f0-9]{64}$/.test(image))
    return failed(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  const at = image.indexOf('@');
  const digest = at < 0 ? undefined : image.slice(at + 1);
  const tagged = at < 0 ? image : image.slice(0, at);
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
  const tag = colon < 0 ? undefined : tagged.slice(colon + 1);
  const name = colon < 0 ? tagged : tagged.slice(0, colon);
  const path = name.slice(name.includes('/') && isDomain(name.slice(0, name.indexOf('/'))) ? name.indexOf('/') + 1 : 0);
  if (path !== path.toLowerCase())
    return failed(`invalid reference format: repository name (${path}) must be lowercase`);
  if (!REPOSITORY.test(name)) return failed('invalid reference format');
  if (name.length > MAX_NAME) return failed(`repository name must not be more than ${MAX_NAME} characters`);
  if (tag !== undefined && !TAG.test(tag)) return failed('invalid reference format');
  if (digest !== undefined && !isDigest(digest)) return failed('invalid reference format');
  return { ok: true, reference: { name, tag, digest } };
}

function isDomain(first: string): boolean {
  return /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
}

function isDigest(digest: string): boolean {
  if (!DIGEST.test(digest)) return false;
  const [algorithm = '', hex = ''] = digest.split(':');
  const length = DIGEST_LENGTHS[algorithm];
  return length === undefined || (hex.length === length && hex === hex.toLowerCase());
}

export type NormalizedImage = { ok: true; image: string } | { ok: false; reason: 'InvalidImageName'; message: string };

/**
 * The image as it is asked of the runtime: with tag `latest` where it has neither tag nor digest
 * (images/image_manager.go:applyDefaultImageTag). The failure carries the waiting reason and message.
 */
export function normalizeImageName(image: string): NormalizedImage {
  const parsed = parseImage(image);
  if (!parsed.ok) {
    const message = `Failed to apply default image tag ${JSON.stringify(image.slice(0, MAX_REFERENCE))}: ${parsed.message}`;
    return { ok: false, reason: 'InvalidImageName', message };
  }
  const { tag, digest } = parsed.reference;
  return { ok: true, image: tag === undefined && digest === undefined ? `${image}:latest` : image };
}

/** A container's pull policy; by default Always for `latest` or no tag, else IfNotPresent (core/v1/defaults.go). */
export function imagePullPolicy(container: Pick<Container, 'image' | 'imagePullPolicy'>): ImagePullPolicy {
  if (container.imagePullPolicy) return container.imagePullPolicy as ImagePullPolicy;
  const parsed = parseImage(container.image ?? '');
  if (!parsed.ok) return 'IfNotPresent';
  const { tag, digest } = parsed.reference;
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}

/** What to do about an image: use the present one, pull it, or give up with ErrImageNeverPull. */
export function pullDecision(policy: ImagePullPolicy, present: boolean): 'use' | 'pull' | 'neverPull' {
  if (policy === 'Always') return 'pull';
  if (present) return 'use';
  return policy === 'Never' ? 'neverPull' : 'pull';
}
