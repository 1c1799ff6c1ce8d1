import type { Container, PodSpec } from '../../machines/kubernetes.types.ts';

export const BUSYBOX = 'docker.io/library/busybox:1.35';

/** What ends at once when asked and otherwise never. */
export const FOREVER = 'trap "exit 0" TERM; sleep 86400 & wait';

export function shell(script: string, over: Partial<Container> = {}): Container {
  return { name: 'main', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['/bin/sh', '-c', script], ...over };
}

/** A pod of one container that runs a script. */
export function shellPod(name: string, script: string, spec: Partial<PodSpec> = {}, over: Partial<Container> = {}) {
  return {
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 5, containers: [shell(script, over)], ...spec },
  };
}
