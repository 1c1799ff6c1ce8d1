import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import { milliValue, wholeValue } from './quantity.ts';
import { allContainers } from './all-containers.ts';

/** `metadata.labels['app']`: a map and one of its keys. */
const SUBSCRIPT = /^metadata\.(labels|annotations)\['(.+)'\]$/;

/** Fields of a pod's metadata that an environment and a volume may show. */
export function metadataField({ metadata }: DesiredPod, fieldPath: string): string {
  const [, map, key = ''] = SUBSCRIPT.exec(fieldPath) ?? [];
  if (map) return metadata[map as 'labels' | 'annotations']?.[key] ?? '';
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    default:
      throw new Error(
        `unsupported fieldPath: ${fieldPath}: accepted are metadata.name, .namespace, .uid, .labels and .annotations`,
      );
  }
}

/** `key="value"` lines in the order of the keys (pkg/fieldpath/fieldpath.go:FormatMap). */
function formatMap(map: Record<string, string> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${goQuote(map[key] ?? '')}`)
    .join('\n');
}

const ESCAPES: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Text in quotes as Go's `%q` writes it, so that a reader made for a kubelet's files understands it. */
function goQuote(text: string): string {
  const quoted = text.replace(/["\\]|\p{C}|[^\S ]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    return (
      ESCAPES[character] ??
      (code < 0x80
        ? `\\x${digits.padStart(2, '0')}`
        : code < 0x1_0000
          ? `\\u${digits.padStart(4, '0')}`
          : `\\U${digits.padStart(8, '0')}`)
    );
  });
  return `"${quoted}"`;
}

export interface ResourceReference {
  /** `limits.cpu`, `requests.memory` … */
  resource: string;
  /** Unset and 0 are 1. */
  divisor?: string;
}

/**
 * A container's limit or request in units of the divisor, rounded up; a limit that is not set is what the node can give
 * (pkg/api/v1/resource/helpers.go:ExtractContainerResourceValue, MergeContainerResourceLimits).
 *
 * @param allocatable the Node's, by resource name
 * @throws Error where no such resource can be asked for
 * @throws QuantityError
 */
export function resourceField(
  container: Container,
  { resource, divisor }: ResourceReference,
  allocatable: Readonly<Record<string, string>>,
): string {
  const [, list, name = ''] = /^(limits|requests)\.(.+)$/.exec(resource) ?? [];
  if (!list || !(['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-')))
    throw new Error(`unsupported container resource: ${resource}`);
  const { limits, requests } = container.resources ?? {};
  const value = name === 'cpu' ? milliValue : wholeValue;
  const own = (list === 'limits' ? limits : requests)?.[name];
  const set = own !== undefined && value(own) !== 0n;
  const amount = set ? value(own) : list === 'limits' ? value(allocatable[name] ?? 0) : 0n;
  const unit = value(divisor || 1) || value(1);
  return String((amount + unit - 1n) / unit);
}

/** The container of this name, init containers included. @throws Error where the pod has none */
export function containerNamed({ spec }: DesiredPod, name: string | undefined): Container {
  const found = allContainers(spec).find((container) => container.name === name);
  if (found) return found;
  throw new Error(`unable to find container ${name ?? ''} in the pod`);
}
