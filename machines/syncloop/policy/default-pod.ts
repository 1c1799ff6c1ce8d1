import type { Container, Pod, PodSpec, Probe, ResourceRequirements } from '../../kubernetes.types.ts';
import { hasContent } from '../../pod/policy/volume-content.ts';
import { imagePullPolicy } from '../../pod/policy/image-policy.ts';

/** The defaults that the API server gives a pod (pkg/apis/core/v1/defaults.go), for pods that it has not seen. */
export function withDefaults(pod: Pod & { spec: PodSpec }): Pod & { spec: PodSpec } {
  const { spec } = pod;
  const hostNetwork = spec.hostNetwork === true;
  const containers = (list: readonly Container[]) => list.map((container) => containerDefaults(container, hostNetwork));
  return {
    ...pod,
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      securityContext: {},
      ...spec,
      ...(spec.initContainers && { initContainers: containers(spec.initContainers) }),
      ...(spec.volumes && {
        volumes: spec.volumes.map((volume) =>
          volume.hostPath
            ? { ...volume, hostPath: { type: '', ...volume.hostPath } }
            : hasContent(volume)
              ? volume
              : { ...volume, emptyDir: volume.emptyDir ?? {} },
        ),
      }),
      containers: containers(spec.containers),
    },
  };
}

function containerDefaults(container: Container, hostNetwork: boolean): Container {
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...container,
    imagePullPolicy: imagePullPolicy(container),
    resources: resourceDefaults(container.resources ?? {}),
    ...(container.livenessProbe && { livenessProbe: probeDefaults(container.livenessProbe) }),
    ...(container.readinessProbe && { readinessProbe: probeDefaults(container.readinessProbe) }),
    ...(container.startupProbe && { startupProbe: probeDefaults(container.startupProbe) }),
    ...(container.ports && {
      ports: container.ports.map((port) => ({
        protocol: 'TCP',
        ...port,
        ...(hostNetwork && !port.hostPort && { hostPort: port.containerPort }),
      })),
    }),
  };
}

function probeDefaults(probe: Probe): Probe {
  const { httpGet, grpc } = probe;
  return {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...probe,
    ...(httpGet && { httpGet: { ...httpGet, path: httpGet.path || '/', scheme: httpGet.scheme ?? 'HTTP' } }),
    ...(grpc && { grpc: { ...grpc, service: grpc.service ?? '' } }),
  };
}

/** A request that is not made is the limit; bare numbers become the strings that quantities are. */
function resourceDefaults({ limits, requests, ...others }: ResourceRequirements): ResourceRequirements {
  const all = { ...limits, ...requests };
  const texts = (amounts: Record<string, string>) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
  return {
    ...others,
    ...(limits && { limits: texts(limits) }),
    ...(Object.keys(all).length > 0 && { requests: texts(all) }),
  };
}
