import { createHash } from 'node:crypto';

import { status } from '@grpc/grpc-js';

import type { Image } from '../proto/generated/cri.ts';
import { Image as ImageMessage } from '../proto/generated/cri.ts';
import { RuntimeFailure, invalid } from './errors.ts';

/** Nothing is stored for an image; this is the size it is listed with, so that its user's sums are not all zero. */
const NOMINAL_SIZE = 1024n * 1024n;
/** Kept and pinned as a runtime keeps the image of its sandboxes. */
const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10';
const DEFAULT_COMMAND: readonly string[] = ['sleep', '2147483647'];

const NAME = /^(?:[a-zA-Z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:(?:\.|_|__|-+|\/)[a-z0-9]+)*$/;
const REFERENCE = /^(?<name>.+?)(?::(?<tag>\w[\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$/;

export interface ImageOptions {
  /** References that are in the store from the start. */
  present?: readonly string[];
  /** References that no registry has: pulling them answers NOT_FOUND, as does any host under `.invalid` (RFC 2606). */
  absent?: readonly string[];
  /** What a container of an image runs that names no command; a long sleep where not given. */
  commands?: Readonly<Record<string, readonly string[]>>;
}

interface StoredImage {
  id: string;
  digest: string;
  /** Normalised references, `docker.io/library/busybox:latest` or `…@sha256:…`. */
  references: string[];
}

interface Reference {
  name: string;
  tag: string | undefined;
  digest: string | undefined;
}

/** An image store of names alone: whatever is well formed can be pulled, and has the same digest every time. */
export class ImageStore {
  #images = new Map<string, StoredImage>();
  #absent: ReadonlySet<string>;
  #commands: ReadonlyMap<string, readonly string[]>;

  constructor(options: ImageOptions = {}, saved: readonly string[] = []) {
    this.#absent = new Set((options.absent ?? []).map(normalise));
    this.#commands = new Map(Object.entries(options.commands ?? {}).map(([name, argv]) => [normalise(name), argv]));
    for (const reference of [PAUSE_IMAGE, ...(options.present ?? []), ...saved]) this.#add(normalise(reference));
  }

  /** Puts an image into the store and gives its id. INVALID_ARGUMENT for a malformed reference, NOT_FOUND for an absent one. */
  pull(reference: string): string {
    const name = normalise(reference);
    const host = name.slice(0, name.indexOf('/')).replace(/:\d+$/, '');
    if (this.#absent.has(name) || host.endsWith('.invalid')) {
      throw new RuntimeFailure(
        status.NOT_FOUND,
        `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`,
      );
    }
    return this.#add(name).id;
  }

  /** The image of an id, a tag or a digest; undefined when the store has none. */
  find(reference: string): Image | undefined {
    const stored = this.#find(reference);
    return stored && describe(stored);
  }

  list(): Image[] {
    return [...this.#images.values()].map(describe);
  }

  /** Removes an image with all its names; one that is not there is fine. */
  remove(reference: string): void {
    const stored = this.#find(reference);
    if (stored !== undefined) this.#images.delete(stored.id);
  }

  /** The command of an image for a container that names none. */
  command(id: string): readonly string[] {
    for (const reference of this.#images.get(id)?.references ?? []) {
      const command = this.#commands.get(reference);
      if (command !== undefined) return command;
    }
    return DEFAULT_COMMAND;
  }

  /** All references, for the record. */
  references(): string[] {
    return [...this.#images.values()].flatMap((image) => image.references);
  }

  #add(name: string): StoredImage {
    const { digest: given } = parse(name);
    const digest = given ?? `sha256:${sha256(`manifest ${name}`)}`;
    const id = `sha256:${sha256(`config ${digest}`)}`;
    const stored = this.#images.get(id) ?? { id, digest, references: [] };
    if (!stored.references.includes(name)) stored.references.push(name);
    this.#images.set(id, stored);
    return stored;
  }

  #find(reference: string): StoredImage | undefined {
    const byId = this.#images.get(reference) ?? this.#images.get(`sha256:${reference}`);
    if (byId !== undefined) return byId;
    const name = normalise(reference);
    const { name: repository, digest } = parse(name);
    return [...this.#images.values()].find(
      (image) =>
        image.references.includes(name) ||
        (image.digest === digest && image.references.some((each) => parse(each).name === repository)),
    );
  }
}

function describe(stored: StoredImage): Image {
  const parsed = stored.references.map(parse);
  return ImageMessage.fromPartial({
    id: stored.id,
    repoTags: parsed.flatMap(({ name, tag }) => (tag === undefined ? [] : [`${name}:${tag}`])),
    repoDigests: [...new Set(parsed.map(({ name }) => `${name}@${stored.digest}`))],
    size: NOMINAL_SIZE,
    uid: { value: BigInt(process.getuid?.() ?? 0) },
    pinned: stored.references.includes(PAUSE_IMAGE),
  });
}

function parse(normalised: string): Reference {
  const groups = REFERENCE.exec(normalised)?.groups ?? {};
  return { name: groups.name ?? normalised, tag: groups.tag, digest: groups.digest };
}

/** `busybox` → `docker.io/library/busybox:latest` (the rules of distribution/reference). INVALID_ARGUMENT if malformed. */
function normalise(reference: string): string {
  const { name, tag, digest } = parse(reference);
  const [first = '', ...others] = name.split('/');
  const hasHost = others.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const full = hasHost ? name : others.length > 0 ? `docker.io/${name}` : `docker.io/library/${name}`;
  if (!NAME.test(full)) {
    throw invalid(`failed to parse image reference "${reference}": invalid reference format`);
  }
  if (digest !== undefined) return `${full}${tag === undefined ? '' : `:${tag}`}@${digest}`;
  return `${full}:${tag ?? 'latest'}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
