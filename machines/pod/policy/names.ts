import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import { containerHash } from './container-hash.ts';

type Names = { metadata: { name: string; namespace: string; uid: string; annotations?: Record<string, string> } };

export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';

/** `<name>_<namespace>` (container/runtime.go:BuildPodFullName). */
export function podFullName(pod: { metadata: { name: string; namespace: string } }): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}`;
}

/** A pod that a manifest declares: its source is neither the API nor unknown (types/pod_update.go:IsStaticPod). */
export function isStaticPod(pod: { metadata: { annotations?: Record<string, string> } }): boolean {
  const source = pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
  return source !== undefined && source !== 'api';
}

/**
 * The pod's folder below podLogsDir: `<namespace>_<name>_<uid>`; a static pod's uid part is its config.hash, so that it
 * is the same folder as its mirror pod's (kuberuntime/helpers.go:BuildPodLogsDirectory).
 */
export function logDirectoryName(pod: Names): string {
  const { namespace, name, uid, annotations } = pod.metadata;
  return `${namespace}_${name}_${annotations?.[CONFIG_HASH_ANNOTATION] ?? uid}`;
}

/** Path of a container's log below the pod's log directory: `<container>/<attempt>.log`. */
export function containerLogPath(container: { name: string }, attempt: number): string {
  return `${container.name}/${attempt}.log`;
}

/** ext4's limit of a file name, in bytes; every part of it is ASCII by validation. */
export const MAX_FILE_NAME = 255;
const LOG_SUFFIX = '.log';

/** Name of the link below /var/log/containers, cut to a file name's limit (kuberuntime/legacy.go:logSymlink). */
export function legacyLogLinkName(pod: Names, container: { name: string }, containerId: string): string {
  const base = `${podFullName(pod)}_${container.name}-${containerId}`;
  return base.slice(0, MAX_FILE_NAME - LOG_SUFFIX.length) + LOG_SUFFIX;
}

const MAX_HOSTNAME = 63;

/**
 * The pod's host name: spec.hostname, else its name, cut to 63 characters and then stripped of trailing `-` and `.`
 * (kubelet_pods.go:truncatePodHostnameIfNeeded).
 */
export function hostname(pod: DesiredPod): string {
  const wanted = pod.spec.hostname || pod.metadata.name;
  return wanted.length > MAX_HOSTNAME ? wanted.slice(0, MAX_HOSTNAME).replace(/[-.]+$/, '') : wanted;
}

/** Labels of a sandbox: the pod's own, then its names, which win (facts/labels-annotations.tsv). */
export function sandboxLabels(pod: DesiredPod): Record<string, string> {
  return { ...pod.metadata.labels, ...podLabels(pod) };
}

/** Annotations of a sandbox: the pod's. */
export function sandboxAnnotations(pod: DesiredPod): Record<string, string> {
  return { ...pod.metadata.annotations };
}

/** Labels of a container: whose it is, by name and UID. */
export function containerLabels(pod: DesiredPod, container: { name: string }): Record<string, string> {
  return { ...podLabels(pod), 'io.kubernetes.container.name': container.name };
}

/** Annotations of a container: what another agent needs to adopt it and to stop it when its pod object is gone. */
export function containerAnnotations(
  pod: DesiredPod,
  container: Container,
  restartCount: number,
): Record<string, string> {
  const annotations: Record<string, string> = {
    'io.kubernetes.container.hash': containerHash(container),
    'io.kubernetes.container.restartCount': String(restartCount),
    'io.kubernetes.container.terminationMessagePath': container.terminationMessagePath ?? '',
    'io.kubernetes.container.terminationMessagePolicy': container.terminationMessagePolicy ?? '',
  };
  const { preStop } = container.lifecycle ?? {};
  if (preStop) annotations['io.kubernetes.container.preStopHandler'] = JSON.stringify(preStop);
  if (container.ports?.length) annotations['io.kubernetes.container.ports'] = JSON.stringify(container.ports);
  const { deletionGracePeriodSeconds } = pod.metadata;
  if (deletionGracePeriodSeconds !== undefined)
    annotations['io.kubernetes.pod.deletionGracePeriod'] = String(deletionGracePeriodSeconds);
  const { terminationGracePeriodSeconds } = pod.spec;
  if (terminationGracePeriodSeconds !== undefined)
    annotations['io.kubernetes.pod.terminationGracePeriod'] = String(terminationGracePeriodSeconds);
  return annotations;
}

function podLabels(pod: Names): Record<string, string> {
  const { name, namespace, uid } = pod.metadata;
  return {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': namespace,
    'io.kubernetes.pod.uid': uid,
  };
}
