import { describe, expect, test } from '@jest/globals';
import { containerConfig, podSandboxConfig } from '../../../services/cri/configs.ts';
import { Image, MountPropagation, NamespaceMode, Protocol } from '../../../services/cri/proto/generated/cri.ts';
import {
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
} from '../../../services/cri/proto/generated/cri.ts';
import { needsImageUser } from '../../../services/cri/security.ts';
import type { Container, PodSpec } from '../../../machines/kubernetes.types.ts';
import { container, pod } from '../../support/fixtures.ts';
import { settings } from './rig.ts';

const dns = { servers: ['10.0.0.10'], searches: ['example.org'], options: ['ndots:5'] };
const place = { attempt: 2, cgroupParent: '/kubepods/poduid-1', logDirectory: '/var/log/pods/default_web_uid-1', dns };
const sandboxOf = (spec: Partial<PodSpec>, over: Parameters<typeof pod>[0] = {}) =>
  podSandboxConfig(pod({ ...over, spec }), place, settings);

interface Given {
  container?: Partial<Container>;
  spec?: Partial<PodSpec>;
  image?: Parameters<typeof Image.fromPartial>[0];
  settings?: Partial<typeof settings>;
}

function containerOf(given: Given) {
  const own = container({ ...given.container });
  const desired = pod({ spec: { containers: [own], ...given.spec } });
  const image = given.image && Image.fromPartial(given.image);
  const environment = (own.env ?? []).map(({ name, value = '' }) => ({ name, value }));
  const where = { attempt: 3, imageRef: 'sha256:app', image, mounts: [], environment };
  return containerConfig(desired, own, where, { ...settings, ...given.settings });
}
const securityOf = (given: Given) => containerOf(given).linux?.securityContext;
const refusal = (given: Given) => {
  try {
    containerOf(given);
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
};

describe('the sandbox of a pod', () => {
  test('bears the names, labels, folders and resolver that a kubelet gives it', () => {
    const config = sandboxOf({}, { metadata: { labels: { app: 'web' }, annotations: { note: 'x' } } });
    expect(config).toMatchObject({
      metadata: { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 2 },
      hostname: 'web',
      logDirectory: '/var/log/pods/default_web_uid-1',
      dnsConfig: dns,
      labels: {
        app: 'web',
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'default',
        'io.kubernetes.pod.uid': 'uid-1',
      },
      annotations: { note: 'x' },
      linux: { cgroupParent: '/kubepods/poduid-1' },
    });
    expect(config.linux?.securityContext?.seccomp?.profileType).toBe(ProfileType.RuntimeDefault);
  });

  test.each([
    ['of its own', {}, [NamespaceMode.POD, NamespaceMode.CONTAINER, NamespaceMode.POD], 'web'],
    ['hostNetwork', { hostNetwork: true }, [NamespaceMode.NODE, NamespaceMode.CONTAINER, NamespaceMode.POD], ''],
    ['hostPID', { hostPID: true }, [NamespaceMode.POD, NamespaceMode.NODE, NamespaceMode.POD], 'web'],
    ['hostIPC', { hostIPC: true }, [NamespaceMode.POD, NamespaceMode.CONTAINER, NamespaceMode.NODE], 'web'],
  ])('namespaces: %s', (_name, spec, [network, pid, ipc], hostname) => {
    const config = sandboxOf(spec);
    expect(config.linux?.securityContext?.namespaceOptions).toMatchObject({ network, pid, ipc });
    expect(config.hostname).toBe(hostname);
    const own = securityOf({ spec });
    expect(own?.namespaceOptions).toMatchObject({ network, pid, ipc });
  });

  test('maps the ports of regular containers and sidecars, not of init containers', () => {
    const ports = (containerPort: number) => [{ containerPort }];
    const config = sandboxOf({
      containers: [
        container({ ports: [{ containerPort: 53, hostPort: 5353, protocol: 'UDP', hostIP: '127.0.0.1' }] }),
        container({ name: 'sctp', ports: [{ containerPort: 9, protocol: 'SCTP' }] }),
      ],
      initContainers: [
        container({ name: 'sidecar', restartPolicy: 'Always', ports: ports(8080) }),
        container({ name: 'init', ports: ports(1) }),
      ],
    });
    expect(config.portMappings).toEqual([
      { protocol: Protocol.UDP, containerPort: 53, hostPort: 5353, hostIp: '127.0.0.1' },
      { protocol: Protocol.SCTP, containerPort: 9, hostPort: 0, hostIp: '' },
      { protocol: Protocol.TCP, containerPort: 8080, hostPort: 0, hostIp: '' },
    ]);
  });

  test('is privileged where a container is, and has the sum of the resources', () => {
    const limits = { cpu: '500m', memory: '64Mi' };
    const config = sandboxOf({
      containers: [
        container({ resources: { limits } }),
        container({ name: 'b', resources: { limits }, securityContext: { privileged: true } }),
      ],
    });
    expect(config.linux?.securityContext?.privileged).toBe(true);
    expect(config.linux?.resources).toMatchObject({
      cpuQuota: 100_000n,
      cpuPeriod: 100_000n,
      cpuShares: 1024n,
      memoryLimitInBytes: 128n * 1024n ** 2n,
    });
  });

  test('takes user, groups and sysctls of the pod', () => {
    const { linux } = sandboxOf({
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 2000,
        fsGroup: 3000,
        supplementalGroups: [4000],
        supplementalGroupsPolicy: 'Strict',
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
    });
    expect(linux?.sysctls).toEqual({ 'net.ipv4.ip_unprivileged_port_start': '0' });
    expect(linux?.securityContext).toMatchObject({
      runAsUser: { value: 1000n },
      runAsGroup: { value: 2000n },
      supplementalGroups: [3000n, 4000n],
      supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict,
    });
  });
});

describe('a container', () => {
  test('has its name, attempt, image, command, environment, log path, labels and annotations', () => {
    const config = containerOf({
      container: {
        command: ['sh', '-c'],
        args: ['echo $(WHO)'],
        env: [{ name: 'WHO', value: 'me' }],
        workingDir: '/srv',
        stdin: true,
        stdinOnce: true,
        tty: true,
      },
    });
    expect(config).toMatchObject({
      metadata: { name: 'app', attempt: 3 },
      image: { image: 'sha256:app', userSpecifiedImage: 'registry.example/app:1' },
      command: ['sh', '-c'],
      args: ['echo me'],
      workingDir: '/srv',
      logPath: 'app/3.log',
      stdin: true,
      stdinOnce: true,
      tty: true,
    });
    expect(config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()])).toEqual([['WHO', 'me']]);
    expect(config.labels['io.kubernetes.container.name']).toBe('app');
    expect(config.annotations['io.kubernetes.container.restartCount']).toBe('3');
  });

  test('has its limits, and its oom_score_adj by its class', () => {
    const resources = { limits: { cpu: '51m', memory: '20Mi' }, requests: { cpu: '51m', memory: '20Mi' } };
    expect(containerOf({ container: { resources } }).linux?.resources).toMatchObject({
      cpuQuota: 5_100n,
      cpuPeriod: 100_000n,
      memoryLimitInBytes: 20n * 1024n ** 2n,
      oomScoreAdj: -997n,
      unified: {},
    });
    expect(containerOf({}).linux?.resources?.oomScoreAdj).toBe(1000n);
    expect(containerOf({ settings: { cpuCFSQuota: false } }).linux?.resources?.cpuQuota).toBe(-1n);
    expect(containerOf({ settings: { memoryOomGroup: true } }).linux?.resources?.unified).toEqual({
      'memory.oom.group': '1',
    });
  });

  test('binds what the node prepared, in its order', () => {
    const own = container();
    const mount = { hostPath: '/h/a', containerPath: '/a', readOnly: true, recursiveReadOnly: false } as const;
    const mounts = (['None', 'HostToContainer', 'Bidirectional'] as const).map((propagation) => ({
      ...mount,
      propagation,
    }));
    const where = { attempt: 0, imageRef: 'i', image: undefined, mounts, environment: [] };
    const config = containerConfig(pod({ spec: { containers: [own] } }), own, where, settings);
    expect(config.mounts).toHaveLength(3);
    expect(config.mounts[0]).toMatchObject({ hostPath: '/h/a', containerPath: '/a', readonly: true });
    expect(config.mounts.map(({ propagation }) => propagation)).toEqual([
      MountPropagation.PROPAGATION_PRIVATE,
      MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
      MountPropagation.PROPAGATION_BIDIRECTIONAL,
    ]);
  });

  test('a quantity that is none is an error of the configuration, not of the runtime', () => {
    expect(() => containerOf({ container: { resources: { limits: { cpu: 'much' } } } })).toThrow(
      /"much" is not a quantity/,
    );
  });
});

describe("a container's security context", () => {
  test('hides the paths that the kubelet hides, unless procMount says otherwise', () => {
    expect(securityOf({})?.maskedPaths).toContain('/proc/kcore');
    expect(securityOf({})?.readonlyPaths).toContain('/proc/sys');
    const unmasked = securityOf({ container: { securityContext: { procMount: 'Unmasked' } } });
    expect(unmasked).toMatchObject({ maskedPaths: [], readonlyPaths: [] });
  });

  test('is what the container says, else what the pod says', () => {
    const spec = { securityContext: { runAsUser: 1, runAsGroup: 2, fsGroup: 3 } };
    expect(securityOf({ spec })).toMatchObject({
      runAsUser: { value: 1n },
      runAsGroup: { value: 2n },
      supplementalGroups: [3n],
    });
    const own = securityOf({ spec, container: { securityContext: { runAsUser: 7 } } });
    expect(own).toMatchObject({ runAsUser: { value: 7n }, runAsGroup: { value: 2n } });
  });

  test('a null in the manifest is not a value', () => {
    const securityContext = { runAsUser: null, runAsNonRoot: null } as never;
    expect(
      securityOf({ spec: { securityContext: { runAsUser: 5 } }, container: { securityContext } })?.runAsUser,
    ).toEqual({
      value: 5n,
    });
  });

  test('capabilities, privileges, read-only root', () => {
    const securityContext = {
      privileged: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
    };
    expect(securityOf({ container: { securityContext } })).toMatchObject({
      privileged: true,
      readonlyRootfs: true,
      noNewPrivs: true,
      capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] },
    });
    expect(securityOf({})).toMatchObject({ privileged: false, readonlyRootfs: false, noNewPrivs: false });
  });

  test.each([
    ['nothing', {}, {}, false, ProfileType.Unconfined, ''],
    ['nothing, seccompDefault', {}, {}, true, ProfileType.RuntimeDefault, ''],
    ['the pod', { type: 'RuntimeDefault' }, {}, false, ProfileType.RuntimeDefault, ''],
    ['the container', { type: 'RuntimeDefault' }, { type: 'Unconfined' }, true, ProfileType.Unconfined, ''],
    [
      'a file',
      {},
      { type: 'Localhost', localhostProfile: 'p/audit.json' },
      false,
      ProfileType.Localhost,
      '/var/lib/kubelet/seccomp/p/audit.json',
    ],
  ])('seccomp by %s', (_name, ofPod, ofContainer, seccompDefault, profileType, localhostRef) => {
    const profile = (value: object) => ('type' in value ? { seccompProfile: value as { type: string } } : {});
    const given = {
      spec: { securityContext: profile(ofPod) },
      container: { securityContext: profile(ofContainer) },
      settings: { seccompDefault },
    };
    expect(securityOf(given)?.seccomp).toEqual({ profileType, localhostRef });
  });
});

describe('B128 runAsNonRoot with the user of the image', () => {
  const nonRoot = { container: { securityContext: { runAsNonRoot: true } } };
  const where = '(pod: "web_default(uid-1)", container: app)';

  test.each([
    [
      'a name',
      { username: 'app' },
      `container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root ${where}`,
    ],
    ['USER 0', { uid: { value: 0n } }, `container has runAsNonRoot and image will run as root ${where}`],
    ['no user', {}, `container has runAsNonRoot and image will run as root ${where}`],
  ])('%s is refused', (_name, image, message) => {
    const expected = { reason: 'CreateContainerConfigError', message };
    expect(refusal({ ...nonRoot, image })).toMatchObject(expected);
  });

  test('a number other than 0 is taken over', () => {
    expect(securityOf({ ...nonRoot, image: { uid: { value: 1000n } } })?.runAsUser).toEqual({ value: 1000n });
  });

  test('with runAsUser the image is not asked', () => {
    const own = container({ securityContext: { runAsNonRoot: true, runAsUser: 1000 } });
    expect(needsImageUser(pod(), own)).toBe(false);
    expect(securityOf({ container: own })?.runAsUser).toEqual({ value: 1000n });
    const root = { container: { securityContext: { runAsNonRoot: true, runAsUser: 0 } } };
    expect(refusal(root)).toMatchObject({ message: `container's runAsUser breaks non-root policy ${where}` });
  });

  test('a group without a user is joined to the user of the image, named or not', () => {
    const grouped = { container: { securityContext: { runAsGroup: 7 } } };
    expect(securityOf({ ...grouped, image: { username: 'app' } })).toMatchObject({
      runAsUsername: 'app',
      runAsUser: undefined,
      runAsGroup: { value: 7n },
    });
  });
});
