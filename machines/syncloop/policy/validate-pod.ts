import type { Container, Pod, PodSpec } from '../../kubernetes.types.ts';
import { limitOf, requestOf } from '../../pod/policy/resources.ts';
import { PORT_NAME } from './port-name.ts';
import { probeProblems } from './probe-problems.ts';

const utf8 = new TextEncoder();
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const UID = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,126}[A-Za-z0-9])?$/;
const LABEL_KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/;
const MAX_NAME = 253;
/** Keys and values together, bytes (apimachinery/pkg/api/validation/objectmeta.go:TotalAnnotationSizeLimitB). */
const MAX_ANNOTATIONS = 256 * 1024;

const LABEL_RULE = 'accepted are at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit';
const NAME_RULE = 'accepted are at most 253 of a-z, 0-9, - and ., beginning and ending with a letter or digit';

/**
 * Rules between and beyond single fields, of a pod whose fields all have their types (check-fields.ts); the API server
 * has them for its own pods (pkg/apis/core/validation). Each problem begins with its field's path.
 */
export function podProblems({ metadata = {}, spec }: Pod): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => void (holds || problems.push(problem));
  const { name, namespace, uid, labels, annotations } = metadata;
  expect(name !== undefined && name !== '', 'metadata.name: is required');
  if (name)
    expect(
      name.length <= MAX_NAME && SUBDOMAIN.test(name),
      `metadata.name: ${quote(name)} is not accepted, ${NAME_RULE}`,
    );
  if (namespace)
    expect(LABEL.test(namespace), `metadata.namespace: ${quote(namespace)} is not accepted, ${LABEL_RULE}`);
  if (uid)
    expect(
      UID.test(uid),
      `metadata.uid: ${quote(uid)} is not accepted, accepted are at most 128 letters, digits, - and .`,
    );
  for (const [key, value] of Object.entries(labels ?? {})) {
    expect(LABEL_KEY.test(key), `metadata.labels: ${quote(key)} is not a label's key`);
    expect(
      LABEL_VALUE.test(value),
      `metadata.labels[${key}]: ${quote(value)} is not accepted, accepted are at most 63 letters, digits, -, _ and .`,
    );
  }
  for (const key of Object.keys(annotations ?? {}))
    expect(LABEL_KEY.test(key.toLowerCase()), `metadata.annotations: ${quote(key)} is not an annotation's key`);
  const size = Object.entries(annotations ?? {}).reduce((sum, pair) => sum + utf8.encode(pair.join('')).length, 0);
  expect(
    size <= MAX_ANNOTATIONS,
    `metadata.annotations: have ${size} bytes together, accepted are at most ${MAX_ANNOTATIONS}`,
  );
  return spec ? [...problems, ...specProblems(spec)] : problems;
}

function specProblems(spec: PodSpec): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => void (holds || problems.push(problem));
  expect(spec.containers.length > 0, 'spec.containers: must hold at least one container');
  const { hostname } = spec;
  if (hostname) expect(LABEL.test(hostname), `spec.hostname: ${quote(hostname)} is not accepted, ${LABEL_RULE}`);
  const volumes = new Set<string>();
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const path = `spec.volumes[${index}]`;
    expect(LABEL.test(volume.name), `${path}.name: ${quote(volume.name)} is not accepted, ${LABEL_RULE}`);
    expect(!volumes.has(volume.name), `${path}.name: ${quote(volume.name)} is the name of another volume too`);
    volumes.add(volume.name);
    const { name: _name, ...sources } = volume;
    const given = Object.keys(sources).filter((source) => sources[source as keyof typeof sources]);
    expect(given.length < 2, `${path}: must have one source, not ${given.join(' and ')}`);
    const host = volume.hostPath?.path;
    if (host !== undefined) {
      expect(host.startsWith('/'), `${path}.hostPath.path: must be an absolute path`);
      expect(!host.split('/').includes('..'), `${path}.hostPath.path: must not contain ".."`);
    }
  }
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  const lists = { initContainers: spec.initContainers ?? [], containers: spec.containers };
  for (const [list, containers] of Object.entries(lists)) {
    for (const [index, container] of containers.entries()) {
      const path = `spec.${list}[${index}]`;
      const { name } = container;
      expect(LABEL.test(name), `${path}.name: ${quote(name)} is not accepted, ${LABEL_RULE}`);
      expect(!names.has(name), `${path}.name: ${quote(name)} is the name of another container too`);
      names.add(name);
      problems.push(...containerProblems(container, path, volumes), ...probeProblems(container, path, list));
      problems.push(
        ...portProblems(container, path, spec.hostNetwork === true, list === 'containers' ? hostPorts : new Set()),
      );
    }
  }
  return problems;
}

function containerProblems(container: Container, path: string, volumes: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => void (holds || problems.push(problem));
  const { image = '', env = [], volumeMounts = [], securityContext = {} } = container;
  expect(image !== '' && image.trim() === image, `${path}.image: must be an image's name without blanks around it`);
  for (const [index, { name }] of env.entries()) {
    expect(/^[\x20-\x3c\x3e-\x7e]+$/.test(name), `${path}.env[${index}].name: must be printable ASCII without "="`);
  }
  const mountPaths = new Set<string>();
  for (const [index, mount] of volumeMounts.entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    expect(volumes.has(mount.name), `${at}.name: ${quote(mount.name)} is not a volume of the pod, ${known(volumes)}`);
    expect(mount.mountPath !== '', `${at}.mountPath: is required`);
    expect(!mountPaths.has(mount.mountPath), `${at}.mountPath: ${quote(mount.mountPath)} is mounted twice`);
    mountPaths.add(mount.mountPath);
    expect(
      mount.mountPropagation !== 'Bidirectional' || securityContext.privileged === true,
      `${at}.mountPropagation: Bidirectional is for privileged containers only`,
    );
  }
  for (const resource of ['cpu', 'memory'] as const) {
    const limit = limitOf(container, resource);
    expect(
      limit === 0n || requestOf(container, resource) <= limit,
      `${path}.resources.requests.${resource}: must not be above its limit`,
    );
  }
  expect(
    !(securityContext.privileged && securityContext.allowPrivilegeEscalation === false),
    `${path}.securityContext.allowPrivilegeEscalation: must not be false for a privileged container`,
  );
  return problems;
}

function portProblems(container: Container, path: string, hostNetwork: boolean, taken: Set<string>): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => void (holds || problems.push(problem));
  const names = new Set<string>();
  for (const [index, { name, containerPort, hostPort, hostIP, protocol = 'TCP' }] of (
    container.ports ?? []
  ).entries()) {
    const at = `${path}.ports[${index}]`;
    if (name) {
      expect(
        PORT_NAME.test(name),
        `${at}.name: ${quote(name)} is not accepted, accepted are at most 15 of a-z, 0-9 and single -`,
      );
      expect(!names.has(name), `${at}.name: ${quote(name)} is the name of another port too`);
      names.add(name);
    }
    if (!hostPort) continue;
    expect(!hostNetwork || hostPort === containerPort, `${at}.hostPort: must equal containerPort under hostNetwork`);
    const key = `${protocol} ${hostIP || '0.0.0.0'}:${hostPort}`;
    expect(!taken.has(key), `${at}.hostPort: ${hostPort} is taken twice`);
    taken.add(key);
  }
  return problems;
}

function known(volumes: ReadonlySet<string>): string {
  return volumes.size === 0 ? 'it has none' : `accepted are ${[...volumes].join(', ')}`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
