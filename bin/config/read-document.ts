import { isUtf8 } from 'node:buffer';
import { isMap, isScalar, isSeq, parseAllDocuments, type Node } from 'yaml';
import { isNestedTooDeeply, MAX_NESTING } from '../../machines/syncloop/policy/nesting.ts';
import { ConfigError } from './problem.ts';
import { isObject, joinPath, type Json, type JsonObject } from './schema.ts';

/** No configuration is larger; also bounds what parsing may cost. */
const MAX_BYTES = 3 * 1024 * 1024;

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'KubeletConfiguration';

export interface ReadDocument {
  document: JsonObject;
  /** JSON paths of keys that the file says twice; the last one is in the document. */
  duplicates: string[];
  /** Documents after the first one, which have no effect. */
  more: number;
}

/**
 * The text of a configuration file as JSON. YAML is read as the kubelet's decoder does: 1.1, no times.
 * @throws ConfigError naming the file: unreadable, empty, not UTF-8, not YAML, other apiVersion or kind
 */
export function readDocument(file: string, bytes: Uint8Array): ReadDocument {
  const fail = (message: string): never => {
    throw new ConfigError([{ origin: file, path: '', message }]);
  };
  const expected = `accepted is apiVersion: ${API_VERSION} with kind: ${KIND}`;
  if (bytes.length > MAX_BYTES) fail(`is ${bytes.length} bytes long: accepted are up to ${MAX_BYTES}`);
  if (!isUtf8(bytes)) fail('is not UTF-8 text: accepted is YAML or JSON in UTF-8');
  const text = new TextDecoder().decode(bytes);
  if (!text.trim()) fail(`is empty: ${expected}`);
  if (isNestedTooDeeply(text)) fail(`is nested too deeply: accepted are up to ${MAX_NESTING} levels`);
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    customTags: (tags) =>
      tags.filter(
        (tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME'),
      ),
  });
  if (!('length' in documents) || !documents.length) return fail(`has nothing but comments in it: ${expected}`);
  const filled = documents.filter((d) => d.contents !== null && !(isScalar(d.contents) && d.contents.value === null));
  const broken = documents.flatMap((d) => d.errors)[0];
  if (broken) fail(`is not YAML: ${broken.message.split('\n')[0]?.replace(/:$/, '')}`);
  const [first, ...rest] = filled;
  if (!first) return fail(`has nothing but comments in it: ${expected}`);
  const document = toJson(() => first.toJS({ maxAliasCount: 100 }) as Json) ?? fail('has too many or circular aliases');
  if (!isObject(document)) return fail(`is not an object: ${expected}`);
  const { apiVersion, kind } = document;
  if (apiVersion === undefined || kind === undefined)
    fail(
      `has no ${[apiVersion === undefined && 'apiVersion', kind === undefined && 'kind'].filter(Boolean).join(' and no ')}: ${expected}`,
    );
  if (apiVersion !== API_VERSION || kind !== KIND)
    fail(`has apiVersion ${JSON.stringify(apiVersion)} and kind ${JSON.stringify(kind)}: ${expected}`);
  const duplicates: string[] = [];
  findDuplicates(first.contents, '', duplicates);
  return { document, duplicates, more: rest.length };
}

/** Undefined where aliases make it endless or huge. */
function toJson(read: () => Json): Json | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

function findDuplicates(node: Node | null, path: string, found: string[]): void {
  if (isSeq(node)) node.items.forEach((item, i) => findDuplicates(item as Node, joinPath(path, i), found));
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const here = joinPath(path, name);
    if (seen.has(name) && name !== '<<') found.push(here);
    seen.add(name);
    findDuplicates(value as Node | null, here, found);
  }
}
