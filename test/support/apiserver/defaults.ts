import { dictAt, isDict, listAt, textAt } from './objects.ts';
import type { Dict, KubeObject } from './objects.ts';

/** Sets fields that are not there. */
function fill(object: Dict, values: Dict): void {
  for (const [key, value] of Object.entries(values))
    if (object[key] === undefined) object[key] = structuredClone(value);
}

/**
 * What the API server fills into a pod, in place. Source: k8s.io/kubernetes pkg/apis/core/v1/defaults.go.
 */
export function defaultPod(pod: KubeObject): void {
  const spec = dictAt(pod, 'spec');
  fill(spec, {
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  if (spec['serviceAccountName'] === undefined && spec['serviceAccount'] !== undefined)
    spec['serviceAccountName'] = spec['serviceAccount'];
  if (spec['serviceAccountName'] !== undefined) spec['serviceAccount'] = spec['serviceAccountName'];
  const hostNetwork = spec['hostNetwork'] === true;
  for (const container of listAt(spec, 'initContainers')) defaultContainer(container, hostNetwork);
  for (const container of listAt(spec, 'containers')) defaultContainer(container, hostNetwork);
  for (const container of listAt(spec, 'ephemeralContainers')) defaultContainer(container, hostNetwork);
  for (const volume of listAt(spec, 'volumes')) defaultVolume(volume);
  limitsAsRequests(spec);
}

function defaultContainer(container: Dict, hostNetwork: boolean): void {
  fill(container, {
    imagePullPolicy: pullPolicy(textAt(container, 'image')),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  for (const port of listAt(container, 'ports')) {
    fill(port, { protocol: 'TCP' });
    if (hostNetwork && port['hostPort'] === undefined) port['hostPort'] = port['containerPort'];
  }
  for (const env of listAt(container, 'env')) {
    const fieldRef = isDict(env['valueFrom']) ? env['valueFrom']['fieldRef'] : undefined;
    if (isDict(fieldRef)) fill(fieldRef, { apiVersion: 'v1' });
    const resourceRef = isDict(env['valueFrom']) ? env['valueFrom']['resourceFieldRef'] : undefined;
    if (isDict(resourceRef)) fill(resourceRef, { divisor: '0' });
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[name];
    if (!isDict(probe)) continue;
    fill(probe, { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 });
    defaultHandler(probe);
  }
  for (const hook of ['postStart', 'preStop']) {
    const handler = isDict(container['lifecycle']) ? container['lifecycle'][hook] : undefined;
    if (isDict(handler)) defaultHandler(handler);
  }
}

function defaultHandler(handler: Dict): void {
  if (isDict(handler['httpGet'])) fill(handler['httpGet'], { path: '/', scheme: 'HTTP' });
  if (isDict(handler['grpc'])) fill(handler['grpc'], { service: '' });
}

/** `:latest` or no tag means Always; a digest or another tag IfNotPresent. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (image.includes('@')) return 'IfNotPresent';
  return name.includes(':') && !name.endsWith(':latest') ? 'IfNotPresent' : 'Always';
}

const FILE_MODE = 0o644;

function defaultVolume(volume: Dict): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
  for (const kind of ['configMap', 'secret', 'downwardAPI', 'projected'])
    if (isDict(volume[kind])) fill(volume[kind], { defaultMode: FILE_MODE });
  if (isDict(volume['hostPath'])) fill(volume['hostPath'], { type: '' });
  for (const source of listAt(volume, 'projected.sources'))
    if (isDict(source['serviceAccountToken'])) fill(source['serviceAccountToken'], { expirationSeconds: 3600 });
  for (const item of [
    ...listAt(volume, 'downwardAPI.items'),
    ...listAt(volume, 'projected.sources').flatMap((s) => listAt(s, 'downwardAPI.items')),
  ]) {
    if (isDict(item['fieldRef'])) fill(item['fieldRef'], { apiVersion: 'v1' });
    if (isDict(item['resourceFieldRef'])) fill(item['resourceFieldRef'], { divisor: '0' });
  }
}

/** A limit without a request is the request, too. */
function limitsAsRequests(spec: Dict): void {
  for (const container of [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')]) {
    const resources = container['resources'];
    if (!isDict(resources) || !isDict(resources['limits'])) continue;
    fill(dictAt(resources, 'requests'), resources['limits']);
  }
}

/** `status.qosClass`. Source: k8s.io/kubernetes pkg/apis/core/helper/qos/qos.go. */
export function qosClass(spec: Dict): string {
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  const of = (container: Dict, kind: string): Dict => {
    const resources = container['resources'];
    const found = isDict(resources) ? resources[kind] : undefined;
    return Object.fromEntries(
      Object.entries(isDict(found) ? found : {}).filter(
        ([name, value]) => /^(cpu|memory)$/.test(name) && !/^0[a-zA-Z]*$/.test(String(value)),
      ),
    );
  };
  if (containers.every((c) => !Object.keys(of(c, 'requests')).length && !Object.keys(of(c, 'limits')).length))
    return 'BestEffort';
  const guaranteed = containers.every((c) => {
    const limits = of(c, 'limits');
    const requests = of(c, 'requests');
    return ['cpu', 'memory'].every((name) => limits[name] !== undefined && limits[name] === requests[name]);
  });
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
