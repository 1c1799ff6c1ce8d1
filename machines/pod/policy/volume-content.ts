import type { DesiredPod, Volume } from '../../kubernetes.types.ts';
import type { ConfigObject, ObjectLookup } from '../objects.types.ts';
import { containerNamed, metadataField, resourceField } from './downward.ts';
import { requiredObject } from './object-references.ts';
import { allContainers } from './all-containers.ts';

/** A file of a volume whose content the agent writes. */
export interface VolumeFile {
  /** Relative to the volume. */
  path: string;
  mode: number;
  data: { text: string } | { base64: string };
  /** Its owner, where that is not the agent. */
  uid?: number;
}

export interface ContentView {
  pod: DesiredPod;
  objects: ObjectLookup;
  /** The Node's, by resource name. */
  allocatable: Readonly<Record<string, string>>;
  /** The tokens of the projected sources, by their places in the list. */
  tokens: Readonly<Record<number, string>>;
}

type Item = { key: string; path: string; mode?: number };
type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];

/** API default of defaultMode. */
const DEFAULT_MODE = 0o644;
/** Of a token that only one user or group is to read (projected.go:collectData). */
const PRIVATE_MODE = 0o600;

/** Whether the agent writes what the volume shows. */
export function hasContent({ configMap, secret, downwardAPI, projected }: Volume): boolean {
  return Boolean(configMap ?? secret ?? downwardAPI ?? projected);
}

/** Whether the pod's own labels and annotations are in it. */
export function showsMetadata({ downwardAPI, projected }: Volume): boolean {
  return Boolean(downwardAPI) || (projected?.sources ?? []).some((source) => source.downwardAPI);
}

/**
 * The files of a configMap, secret, downwardAPI or projected volume; of two of one path the later one stays
 * (pkg/volume/configmap/configmap.go:MakePayload, projected/projected.go:collectData).
 *
 * @throws Error with the kubelet's words where an object or a key is missing that is not optional; no content is in it
 */
export function volumeFiles(volume: Volume, view: ContentView): VolumeFile[] {
  const { configMap, secret, downwardAPI, projected } = volume;
  const files: VolumeFile[] = [];
  if (configMap) {
    const { name = '', items, optional, defaultMode } = configMap;
    files.push(...configMapFiles(view.objects, { name, items, optional }, defaultMode));
  }
  if (secret) {
    const { secretName: name = '', items, optional, defaultMode } = secret;
    files.push(...secretFiles(view.objects, { name, items, optional }, defaultMode));
  }
  if (downwardAPI) files.push(...downwardFiles(downwardAPI.items, view, downwardAPI.defaultMode));
  for (const [index, source] of (projected?.sources ?? []).entries()) {
    const mode = projected?.defaultMode;
    if (source.configMap) files.push(...configMapFiles(view.objects, source.configMap, mode));
    if (source.secret) files.push(...secretFiles(view.objects, source.secret, mode));
    if (source.downwardAPI) files.push(...downwardFiles(source.downwardAPI.items, view, mode));
    if (source.serviceAccountToken)
      files.push(tokenFile(source.serviceAccountToken.path, view.tokens[index] ?? '', view.pod, mode));
  }
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

type Source = { name?: string; items?: Item[]; optional?: boolean };

function configMapFiles(objects: ObjectLookup, { name = '', items, optional }: Source, mode = DEFAULT_MODE) {
  const object = requiredObject(objects, { kind: 'ConfigMap', name }, optional);
  return objectFiles(object, items, mode, optional, 'config', (text) => ({ text }));
}

function secretFiles(objects: ObjectLookup, { name = '', items, optional }: Source, mode = DEFAULT_MODE) {
  const object = requiredObject(objects, { kind: 'Secret', name }, optional);
  return objectFiles(object, items, mode, optional, 'secret', (base64) => ({ base64 }));
}

function objectFiles(
  { data = {}, binaryData = {} }: ConfigObject = {},
  items: readonly Item[] | undefined,
  defaultMode: number,
  optional: boolean | undefined,
  what: 'config' | 'secret',
  ofData: (value: string) => VolumeFile['data'],
): VolumeFile[] {
  const contents = new Map<string, VolumeFile['data']>([
    ...Object.entries(data).map(([key, value]) => [key, ofData(value)] as const),
    ...Object.entries(binaryData).map(([key, base64]) => [key, { base64 }] as const),
  ]);
  if (!items?.length) return [...contents].map(([path, content]) => ({ path, mode: defaultMode, data: content }));
  return items.flatMap(({ key, path, mode }) => {
    const content = contents.get(key);
    if (content) return [{ path, mode: mode ?? defaultMode, data: content }];
    if (optional) return [];
    throw new Error(`references non-existent ${what} key: ${key}`);
  });
}

function downwardFiles(
  items: readonly DownwardItem[] = [],
  { pod, allocatable }: ContentView,
  defaultMode = DEFAULT_MODE,
): VolumeFile[] {
  return items.map(({ path, mode = defaultMode, fieldRef, resourceFieldRef }) => ({
    path,
    mode,
    data: {
      text: fieldRef
        ? metadataField(pod, fieldRef.fieldPath)
        : resourceFieldRef
          ? resourceField(containerNamed(pod, resourceFieldRef.containerName), resourceFieldRef, allocatable)
          : '',
    },
  }));
}

function tokenFile(path: string, token: string, pod: DesiredPod, defaultMode = DEFAULT_MODE): VolumeFile {
  const uid = commonUser(pod);
  const restricted = uid !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  const mode = restricted ? PRIVATE_MODE : defaultMode;
  return { path, mode, data: { text: token }, ...(uid !== undefined && { uid }) };
}

/** The user that all containers run as; undefined where they differ or one has none (pkg/volume/util/util.go:FsUserFrom). */
function commonUser({ spec }: DesiredPod): number | undefined {
  const containers = allContainers(spec);
  const users = new Set(containers.map((c) => c.securityContext?.runAsUser ?? spec.securityContext?.runAsUser));
  return users.size === 1 ? [...users][0] : undefined;
}
