import { isScalar, LineCounter, parseAllDocuments, type Document, type Tags } from 'yaml';
import { isObject, type Plain } from './check-fields.ts';
import { isNestedTooDeeply, MAX_NESTING } from './nesting.ts';
import { repeatedKeyOfJson, repeatedKeyOfYaml } from './repeated-key.ts';

export type ParsedManifest = { ok: true; value: Plain } | { ok: false; problem: string };

/** config/common.go:maxConfigLength. */
const MAX_BYTES = 10 * 1024 * 1024;
/** Of YAML, which takes a hundred times as long to parse as JSON, on the thread that serves every pod. */
const MAX_YAML = 1024 * 1024;
const REPEATED = 'the same key is written twice in one map';
/** References of one YAML document that are resolved before it is taken for an attack. */
const MAX_ALIASES = 100;

/**
 * The one document of a manifest, JSON or YAML 1.1 as the kubelet reads it (yes and no are booleans, 0644 is octal;
 * but no times and no base-60 numbers). Fields that are null are taken out: they mean absent. Problems tell the line
 * and never show the text.
 */
export function parseManifest(text: string): ParsedManifest {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ok: false, problem: 'is nested too deeply' };
  }
}

function parse(text: string): ParsedManifest {
  const failed = (problem: string): ParsedManifest => ({ ok: false, problem });
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES)
    return failed('is larger than 10 MiB, which a manifest may have at most');
  if (/[\0\uFFFD]/.test(text)) return failed('is not UTF-8 text');
  const json = parseJson(text);
  if (json !== undefined) {
    const at = repeatedKeyOfJson(text);
    if (at === undefined) return { ok: true, value: withoutNulls(json) };
    return failed(`line ${text.slice(0, at).split('\n').length}: ${REPEATED}`);
  }
  if (text.length > MAX_YAML) return failed('is larger than 1 MiB, which YAML may have at most; JSON may have 10 MiB');
  if (isNestedTooDeeply(text)) return failed(`is nested too deeply: accepted are up to ${MAX_NESTING} levels`);
  return parseYaml(text);
}

function parseYaml(text: string): ParsedManifest {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    schema: 'yaml-1.1',
    version: '1.1',
    merge: true,
    customTags: (tags) => tags.filter(isReadByKubelet),
  });
  const [document, ...others] = [...parsed].filter((each) => !isBlank(each));
  const failed = (problem: string, at?: number): ParsedManifest => ({
    ok: false,
    problem: at === undefined ? problem : `line ${lines.linePos(at).line}: ${problem}`,
  });
  if (!document) return failed('is empty');
  if (others.length > 0) return failed(`holds ${others.length + 1} YAML documents (separated by ---), accepted is one`);
  const [error] = document.errors;
  if (error) return failed(describe(error.message), error.pos[0]);
  const repeated = repeatedKeyOfYaml(document);
  return repeated === undefined ? toPlain(document) : failed(REPEATED, repeated);
}

/** A tab is white space in JSON and an error in some places of YAML, so JSON is tried first. */
function parseJson(text: string): Plain {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Plain;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toPlain(document: Document): ParsedManifest {
  try {
    return { ok: true, value: withoutNulls(document.toJS({ maxAliasCount: MAX_ALIASES }) as Plain) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { ok: false, problem: 'has YAML aliases that refer to nothing or multiply without bound' };
  }
}

function isBlank({ errors, contents }: Document): boolean {
  return errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null));
}

/** Kinds of YAML 1.1 values that JSON has no word for; the kubelet reads them as plain text. */
const UNREAD_TAGS = /:(?:timestamp|binary|omap|pairs|set)$/;

function isReadByKubelet(tag: Tags[number]): boolean {
  return typeof tag === 'string' || (tag.format !== 'TIME' && !UNREAD_TAGS.test(tag.tag));
}

function describe(message: string): string {
  if (message.includes('call stack')) return 'is nested too deeply';
  return message.replace(/: .*$/s, '');
}

function withoutNulls(value: Plain): Plain {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}
