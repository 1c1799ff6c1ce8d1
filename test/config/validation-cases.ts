/** A configuration that breaks one row of test/facts/kubelet-config-validation.tsv, and the field that the error names. */
export interface Broken {
  fields?: object;
  argv?: string[];
  names: string;
}

const off = (gate: string) => ({ featureGates: { [gate]: false } });
const list = (...preloadedImagesVerificationAllowlist: string[]) => ({
  imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
  preloadedImagesVerificationAllowlist,
});
const LIST = 'preloadedImagesVerificationAllowlist[0]';
const cpu = (...options: string[]) => ({
  cpuManagerPolicy: 'static',
  kubeReserved: { cpu: '1' },
  cpuManagerPolicyOptions: Object.fromEntries(options.map((o) => [o, 'true'])),
});
const CPU = 'cpuManagerPolicyOptions';
const critical = 'shutdownGracePeriodCriticalPods';
const restart = 'crashLoopBackOff.maxContainerRestartPeriod';

/** By `fields: error_condition` of the table. */
export const BROKEN: Readonly<Record<string, Broken[]>> = {
  'featureGates: unknown gate name, or value that the gate is locked against': [
    { fields: { featureGates: { NoSuchGate: true } }, names: 'featureGates.NoSuchGate' },
    { fields: off('NodeSwap'), names: 'featureGates.NodeSwap' },
  ],
  'featureGates: a gate enabled while a gate it depends on is disabled': [
    { fields: { featureGates: { NodeDeclaredFeatures: false } }, names: 'featureGates.ExtendWebSocketsToKubelet' },
  ],
  'nodeLeaseDurationSeconds: value <= 0': [
    { fields: { nodeLeaseDurationSeconds: -1 }, names: 'nodeLeaseDurationSeconds' },
  ],
  'systemCgroups,cgroupRoot: systemCgroups != "" && cgroupRoot == ""': [
    { fields: { systemCgroups: '/system' }, names: 'systemCgroups' },
  ],
  'eventBurst: value < 0': [{ fields: { eventBurst: -1 }, names: 'eventBurst' }],
  'eventRecordQPS: value < 0': [{ fields: { eventRecordQPS: -1 }, names: 'eventRecordQPS' }],
  'healthzPort: value != 0 && (value < 1 || value > 65535)': [
    { fields: { healthzPort: 65536 }, names: 'healthzPort' },
    { fields: { healthzPort: -1 }, names: 'healthzPort' },
  ],
  'cpuCFSQuotaPeriod: value != 100ms': [
    { fields: { ...off('CustomCPUCFSQuotaPeriod'), cpuCFSQuotaPeriod: '50ms' }, names: 'cpuCFSQuotaPeriod' },
  ],
  'cpuCFSQuotaPeriod: value < 1ms || value > 1s': [
    { fields: { cpuCFSQuotaPeriod: '999us' }, names: 'cpuCFSQuotaPeriod' },
    { fields: { cpuCFSQuotaPeriod: '1.1s' }, names: 'cpuCFSQuotaPeriod' },
  ],
  'imageGCHighThresholdPercent: value < 0 || value > 100': [
    { fields: { imageGCHighThresholdPercent: 101 }, names: 'imageGCHighThresholdPercent' },
  ],
  'imageGCLowThresholdPercent: value < 0 || value > 100': [
    { fields: { imageGCLowThresholdPercent: -1 }, names: 'imageGCLowThresholdPercent' },
  ],
  'imageGCLowThresholdPercent,imageGCHighThresholdPercent: low >= high': [
    { fields: { imageGCLowThresholdPercent: 85 }, names: 'imageGCLowThresholdPercent' },
  ],
  'imageMinimumGCAge: value < 0': [{ fields: { imageMinimumGCAge: '-1s' }, names: 'imageMinimumGCAge' }],
  'imageMaximumGCAge: value < 0': [{ fields: { imageMaximumGCAge: '-1s' }, names: 'imageMaximumGCAge' }],
  'imageMaximumGCAge,imageMinimumGCAge: max > 0 && max <= min': [
    { fields: { imageMaximumGCAge: '2m' }, names: 'imageMaximumGCAge' },
  ],
  'iptablesDropBit: value < 0 || value > 31': [{ fields: { iptablesDropBit: 32 }, names: 'iptablesDropBit' }],
  'iptablesMasqueradeBit: value < 0 || value > 31': [
    { fields: { iptablesMasqueradeBit: -1 }, names: 'iptablesMasqueradeBit' },
  ],
  'kubeAPIBurst: value < 0': [{ fields: { kubeAPIBurst: -1 }, names: 'kubeAPIBurst' }],
  'kubeAPIQPS: value < 0': [{ fields: { kubeAPIQPS: -1 }, names: 'kubeAPIQPS' }],
  'nodeStatusMaxImages: value < -1': [{ fields: { nodeStatusMaxImages: -2 }, names: 'nodeStatusMaxImages' }],
  'maxOpenFiles: value < 0': [{ fields: { maxOpenFiles: -1 }, names: 'maxOpenFiles' }],
  'maxPods: value < 0': [{ fields: { maxPods: -1 }, names: 'maxPods' }],
  'oomScoreAdj: value < -1000 || value > 1000': [
    { fields: { oomScoreAdj: -1001 }, names: 'oomScoreAdj' },
    { fields: { oomScoreAdj: 1001 }, names: 'oomScoreAdj' },
  ],
  'podsPerCore: value < 0': [{ fields: { podsPerCore: -1 }, names: 'podsPerCore' }],
  'port: value < 1 || value > 65535': [
    { fields: { port: 65536 }, names: 'port' },
    { argv: ['--port=0'], names: '--port: port' },
  ],
  'readOnlyPort: value != 0 && (value < 1 || value > 65535)': [{ fields: { readOnlyPort: -1 }, names: 'readOnlyPort' }],
  'registryBurst: value < 0': [{ fields: { registryBurst: -1 }, names: 'registryBurst' }],
  'registryPullQPS: value < 0': [{ fields: { registryPullQPS: -1 }, names: 'registryPullQPS' }],
  'maxParallelImagePulls: set && value < 1': [{ fields: { maxParallelImagePulls: 0 }, names: 'maxParallelImagePulls' }],
  'serializeImagePulls,maxParallelImagePulls: serializeImagePulls && maxParallelImagePulls > 1': [
    { fields: { serializeImagePulls: true, maxParallelImagePulls: 2 }, names: 'maxParallelImagePulls' },
  ],
  'serverTLSBootstrap: value == true': [
    { fields: { ...off('RotateKubeletServerCertificate'), serverTLSBootstrap: true }, names: 'serverTLSBootstrap' },
  ],
  'runOnce: value == true': [
    { fields: { runOnce: true }, names: 'runOnce' },
    { argv: ['--runonce'], names: '--runonce: runOnce' },
  ],
  'registerWithTaints[]: key, value or effect not a valid taint': [
    { fields: { registerWithTaints: [{ key: 'a b', effect: 'NoSchedule' }] }, names: 'registerWithTaints[0].key' },
    {
      fields: { registerWithTaints: [{ key: 'a', value: '-', effect: 'NoSchedule' }] },
      names: 'registerWithTaints[0].value',
    },
    { argv: ['--register-with-taints=a=b:Sometimes'], names: '--register-with-taints: registerWithTaints[0].effect' },
  ],
  'registerWithTaints[].timeAdded: set': [
    {
      fields: { registerWithTaints: [{ key: 'a', effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' }] },
      names: 'registerWithTaints[0].timeAdded',
    },
  ],
  'topologyManagerPolicy: not in {none, best-effort, restricted, single-numa-node}': [
    { fields: { topologyManagerPolicy: 'strict' }, names: 'topologyManagerPolicy' },
  ],
  'topologyManagerScope: not in {container, pod}': [
    { fields: { topologyManagerScope: 'node' }, names: 'topologyManagerScope' },
  ],
  'shutdownGracePeriodCriticalPods,shutdownGracePeriod: critical > total': [
    { fields: { shutdownGracePeriod: '10s', [critical]: '20s' }, names: critical },
  ],
  'shutdownGracePeriod: value < 0 || 0 < value < 1s': [
    { fields: { shutdownGracePeriod: '500ms' }, names: 'shutdownGracePeriod' },
  ],
  'shutdownGracePeriodCriticalPods: value < 0 || 0 < value < 1s': [{ fields: { [critical]: '-1s' }, names: critical }],
  'shutdownGracePeriod,shutdownGracePeriodCriticalPods: either > 0': [
    {
      fields: {
        featureGates: {
          GracefulNodeShutdown: false,
          GracefulNodeShutdownBasedOnPodPriority: false,
          WindowsGracefulNodeShutdown: false,
        },
        shutdownGracePeriod: '10s',
      },
      names: 'shutdownGracePeriod',
    },
  ],
  'shutdownGracePeriodByPodPriority,shutdownGracePeriod,shutdownGracePeriodCriticalPods: byPodPriority non-empty && (either duration > 0)':
    [
      {
        fields: {
          shutdownGracePeriod: '10s',
          shutdownGracePeriodByPodPriority: [{ priority: 0, shutdownGracePeriodSeconds: 5 }],
        },
        names: 'shutdownGracePeriodByPodPriority',
      },
    ],
  'shutdownGracePeriodByPodPriority: non-empty': [
    {
      fields: {
        ...off('GracefulNodeShutdownBasedOnPodPriority'),
        shutdownGracePeriodByPodPriority: [{ priority: 0, shutdownGracePeriodSeconds: 5 }],
      },
      names: 'shutdownGracePeriodByPodPriority',
    },
  ],
  'memorySwap.swapBehavior: not in {"", NoSwap, LimitedSwap}': [
    { fields: { memorySwap: { swapBehavior: 'Unlimited' } }, names: 'memorySwap.swapBehavior' },
  ],
  'crashLoopBackOff.maxContainerRestartPeriod: value < 1s || value > 300s (compared in whole ms)': [
    { fields: { crashLoopBackOff: { maxContainerRestartPeriod: '999.9ms' } }, names: restart },
    { fields: { crashLoopBackOff: { maxContainerRestartPeriod: '300.001s' } }, names: restart },
  ],
  'crashLoopBackOff.maxContainerRestartPeriod: set': [
    {
      fields: { ...off('KubeletCrashLoopBackOffMax'), crashLoopBackOff: { maxContainerRestartPeriod: '10s' } },
      names: restart,
    },
  ],
  'enforceNodeAllocatable: contains system-reserved and system-reserved-compressible': [
    {
      fields: {
        systemReservedCgroup: '/s',
        enforceNodeAllocatable: ['system-reserved', 'system-reserved-compressible'],
      },
      names: 'enforceNodeAllocatable',
    },
  ],
  'enforceNodeAllocatable: contains kube-reserved and kube-reserved-compressible': [
    {
      fields: { kubeReservedCgroup: '/k', enforceNodeAllocatable: ['kube-reserved', 'kube-reserved-compressible'] },
      names: 'enforceNodeAllocatable',
    },
  ],
  'enforceNodeAllocatable: duplicate entry': [
    { fields: { enforceNodeAllocatable: ['pods', 'pods'] }, names: 'enforceNodeAllocatable' },
  ],
  'enforceNodeAllocatable,systemReservedCgroup: has system-reserved or system-reserved-compressible && systemReservedCgroup == ""':
    [{ fields: { enforceNodeAllocatable: ['system-reserved'] }, names: 'systemReservedCgroup' }],
  'enforceNodeAllocatable,kubeReservedCgroup: has kube-reserved or kube-reserved-compressible && kubeReservedCgroup == ""':
    [{ fields: { enforceNodeAllocatable: ['kube-reserved-compressible'] }, names: 'kubeReservedCgroup' }],
  'enforceNodeAllocatable: has none && length > 1': [
    { fields: { enforceNodeAllocatable: ['none', 'pods'] }, names: 'enforceNodeAllocatable' },
  ],
  'enforceNodeAllocatable: entry not in {pods, system-reserved, system-reserved-compressible, kube-reserved, kube-reserved-compressible, none}':
    [{ fields: { enforceNodeAllocatable: ['nodes'] }, names: 'enforceNodeAllocatable' }],
  'enforceNodeAllocatable,cgroupsPerQOS: any valid entry except none && cgroupsPerQOS == false': [
    { fields: { cgroupsPerQOS: false }, names: 'enforceNodeAllocatable' },
  ],
  'hairpinMode: not in {none, hairpin-veth, promiscuous-bridge}': [
    { fields: { hairpinMode: 'veth' }, names: 'hairpinMode' },
  ],
  'imagePullCredentialsVerificationPolicy: not in {NeverVerify, NeverVerifyPreloadedImages, NeverVerifyAllowlistedImages, AlwaysVerify}':
    [
      {
        fields: { imagePullCredentialsVerificationPolicy: 'Sometimes' },
        names: 'imagePullCredentialsVerificationPolicy',
      },
    ],
  'imagePullCredentialsVerificationPolicy: non-empty': [
    {
      fields: { ...off('KubeletEnsureSecretPulledImages'), imagePullCredentialsVerificationPolicy: 'AlwaysVerify' },
      names: 'imagePullCredentialsVerificationPolicy',
    },
  ],
  'preloadedImagesVerificationAllowlist,imagePullCredentialsVerificationPolicy: non-empty && policy != NeverVerifyAllowlistedImages':
    [{ fields: { preloadedImagesVerificationAllowlist: ['a'] }, names: 'preloadedImagesVerificationAllowlist' }],
  'preloadedImagesVerificationAllowlist: non-empty': [
    {
      fields: { ...off('KubeletEnsureSecretPulledImages'), preloadedImagesVerificationAllowlist: ['a'] },
      names: 'preloadedImagesVerificationAllowlist',
    },
  ],
  'preloadedImagesVerificationAllowlist[]: leading or trailing whitespace': [{ fields: list(' a'), names: LIST }],
  'preloadedImagesVerificationAllowlist[]: empty or shorter than a usable pattern': [
    { fields: list(''), names: LIST },
    { fields: list('*'), names: LIST },
  ],
  'preloadedImagesVerificationAllowlist[]: "*" anywhere but as a trailing "/*"': [
    { fields: list('a.io/*/b'), names: LIST },
  ],
  'preloadedImagesVerificationAllowlist[]: wildcard with no registry host before it': [
    { fields: list('library/*'), names: LIST },
  ],
  'preloadedImagesVerificationAllowlist[]: not parseable as an image name': [{ fields: list('a.io/B C'), names: LIST }],
  'preloadedImagesVerificationAllowlist[]: carries a tag or digest': [
    { fields: list('a.io:5000/b:1'), names: LIST },
    { fields: list('b@sha256:00'), names: LIST },
  ],
  'reservedSystemCPUs,systemReservedCgroup,kubeReservedCgroup: reservedSystemCPUs != "" && either cgroup != ""': [
    { fields: { reservedSystemCPUs: '0', kubeReservedCgroup: '/k' }, names: 'reservedSystemCPUs' },
  ],
  'reservedSystemCPUs: not a valid cpuset list': [
    { fields: { reservedSystemCPUs: '3-1' }, names: 'reservedSystemCPUs' },
  ],
  'reservedMemory[].limits: key not memory and not hugepages-<size>': [
    { fields: { reservedMemory: [{ numaNode: 0, limits: { disk: '1' } }] }, names: 'reservedMemory[0].limits.disk' },
  ],
  'reservedMemory[].limits: quantity == 0': [
    {
      fields: { reservedMemory: [{ numaNode: 0, limits: { memory: '0' } }] },
      names: 'reservedMemory[0].limits.memory',
    },
  ],
  'reservedMemory[]: same (numaNode, resource) listed twice': [
    { argv: ['--reserved-memory=0:memory=1Gi;0:memory=2Gi'], names: '--reserved-memory: reservedMemory[1]' },
  ],
  'userNamespaces.idsPerPod: value < 65536': [
    { fields: { userNamespaces: { idsPerPod: 0 } }, names: 'userNamespaces.idsPerPod' },
  ],
  'userNamespaces.idsPerPod: value % 65536 != 0': [
    { fields: { userNamespaces: { idsPerPod: 65537 } }, names: 'userNamespaces.idsPerPod' },
  ],
  'userNamespaces.idsPerPod: value > 4294967295': [
    { fields: { userNamespaces: { idsPerPod: 4294967296 } }, names: 'userNamespaces.idsPerPod' },
  ],
  'showHiddenMetricsForVersion: not "" and not the previous minor (1.35 for 1.36)': [
    { fields: { showHiddenMetricsForVersion: '1.34' }, names: 'showHiddenMetricsForVersion' },
  ],
  'logging.format: not a registered format (text; json when built in)': [
    { fields: { logging: { format: 'xml' } }, names: 'logging.format' },
    { argv: ['--log-format=xml'], names: '--log-format: logging.format' },
  ],
  'logging.flushFrequency: value <= 0': [
    { fields: { logging: { flushFrequency: '-1s' } }, names: 'logging.flushFrequency' },
    { argv: ['--log-flush-frequency=0'], names: '--log-flush-frequency: logging.flushFrequency' },
  ],
  'logging.verbosity: value > 2147483647': [
    { fields: { logging: { verbosity: 2147483648 } }, names: 'logging.verbosity' },
  ],
  'logging.vmodule: non-empty': [
    {
      fields: { logging: { format: 'json', vmodule: [{ filePattern: 'a', verbosity: 1 }] } },
      names: 'logging.vmodule',
    },
  ],
  'logging.vmodule[].filePattern: empty': [
    { fields: { logging: { vmodule: [{ verbosity: 1 }] } }, names: 'logging.vmodule[0].filePattern' },
  ],
  'logging.vmodule[].filePattern: contains "=" or ","': [
    {
      fields: { logging: { vmodule: [{ filePattern: 'a=b', verbosity: 1 }] } },
      names: 'logging.vmodule[0].filePattern',
    },
  ],
  'logging.vmodule[].verbosity: value > 2147483647': [
    {
      fields: { logging: { vmodule: [{ filePattern: 'a', verbosity: 4294967295 }] } },
      names: 'logging.vmodule[0].verbosity',
    },
  ],
  'logging.options.text.splitStream: true': [
    { fields: { logging: { options: { text: { splitStream: true } } } }, names: 'logging.options.text.splitStream' },
  ],
  'logging.options.text.infoBufferSize: != 0': [
    {
      fields: { logging: { options: { text: { infoBufferSize: '1Ki' } } } },
      names: 'logging.options.text.infoBufferSize',
    },
  ],
  'logging.options.json.splitStream: true': [
    { argv: ['--log-json-split-stream'], names: '--log-json-split-stream: logging.options.json.splitStream' },
  ],
  'logging.options.json.infoBufferSize: != 0': [
    {
      argv: ['--log-json-info-buffer-size=1'],
      names: '--log-json-info-buffer-size: logging.options.json.infoBufferSize',
    },
  ],
  'tracing.samplingRatePerMillion: value < 0 || value > 1000000': [
    { fields: { tracing: { samplingRatePerMillion: 1000001 } }, names: 'tracing.samplingRatePerMillion' },
  ],
  'tracing.endpoint: not parseable as URL': [{ fields: { tracing: { endpoint: 'a b:1' } }, names: 'tracing.endpoint' }],
  'tracing.endpoint: scheme not in {none, dns, unix, unix-abstract} when one is present': [
    { fields: { tracing: { endpoint: 'http://localhost:4317' } }, names: 'tracing.endpoint' },
  ],
  'memoryThrottlingFactor: value <= 0 || value > 1.0': [
    { fields: { memoryThrottlingFactor: 0 }, names: 'memoryThrottlingFactor' },
    { fields: { memoryThrottlingFactor: 1.1 }, names: 'memoryThrottlingFactor' },
  ],
  'memoryReservationPolicy: value == TieredReservation': [
    { fields: { memoryReservationPolicy: 'TieredReservation' }, names: 'memoryReservationPolicy' },
  ],
  'memoryReservationPolicy: not in {None, TieredReservation}': [
    { fields: { memoryReservationPolicy: 'All' }, names: 'memoryReservationPolicy' },
  ],
  'containerRuntimeEndpoint: == ""': [
    { argv: ['--container-runtime-endpoint='], names: '--container-runtime-endpoint: containerRuntimeEndpoint' },
  ],
  'enableSystemLogQuery,enableSystemLogHandler: query true && handler false': [
    { fields: { enableSystemLogQuery: true, enableSystemLogHandler: false }, names: 'enableSystemLogQuery' },
  ],
  'containerLogMaxWorkers: value < 1': [{ fields: { containerLogMaxWorkers: 0 }, names: 'containerLogMaxWorkers' }],
  'containerLogMonitorInterval: value < 3s': [
    { fields: { containerLogMonitorInterval: '2s' }, names: 'containerLogMonitorInterval' },
  ],
  'containerLogMaxFiles: value <= 1': [{ fields: { containerLogMaxFiles: 1 }, names: 'containerLogMaxFiles' }],
  'podLogsDir: path not normalised': [{ fields: { podLogsDir: '/var//log' }, names: 'podLogsDir' }],
  'podLogsDir: contains a non-ASCII rune': [{ fields: { podLogsDir: '/var/lög' }, names: 'podLogsDir' }],
  '--exit-on-lock-contention,--lock-file: exit-on-lock-contention && lock-file == ""': [
    { argv: ['--exit-on-lock-contention'], names: '--exit-on-lock-contention' },
  ],
  'kubeReserved,systemReserved: key not in {cpu, memory, ephemeral-storage, pid}': [
    { fields: { kubeReserved: { gpu: '1' } }, names: 'kubeReserved.gpu' },
  ],
  'kubeReserved,systemReserved: quantity unparsable or negative': [
    { fields: { systemReserved: { cpu: '-1' } }, names: 'systemReserved.cpu' },
    { argv: ['--kube-reserved=memory=lots'], names: '--kube-reserved: kubeReserved.memory' },
  ],
  'qosReserved: resource other than memory, no trailing %, or percent outside 0..100': [
    { fields: { featureGates: { QOSReserved: true }, qosReserved: { cpu: '1%' } }, names: 'qosReserved.cpu' },
    { fields: { featureGates: { QOSReserved: true }, qosReserved: { memory: '101%' } }, names: 'qosReserved.memory' },
  ],
  'evictionHard,evictionSoft: unknown signal name': [
    { fields: { evictionHard: { 'disk.available': '1Gi' } }, names: 'evictionHard["disk.available"]' },
  ],
  'evictionHard,evictionSoft: percentage < 0% or > 100% (0% and 100% mean signal ignored)': [
    { fields: { evictionHard: { 'nodefs.available': '101%' } }, names: 'evictionHard["nodefs.available"]' },
  ],
  'evictionHard,evictionSoft: absolute quantity <= 0 or unparsable': [
    { argv: ['--eviction-hard=memory.available<0'], names: '--eviction-hard: evictionHard["memory.available"]' },
  ],
  'evictionSoft,evictionSoftGracePeriod: soft threshold without a matching grace period': [
    { fields: { evictionSoft: { 'memory.available': '1Gi' } }, names: 'evictionSoft["memory.available"]' },
  ],
  'evictionSoftGracePeriod: unknown signal, unparsable or negative duration': [
    {
      fields: { evictionSoftGracePeriod: { 'memory.available': '-1s' } },
      names: 'evictionSoftGracePeriod["memory.available"]',
    },
  ],
  'evictionMinimumReclaim: unknown signal, percentage <= 0 or negative quantity': [
    {
      fields: { evictionMinimumReclaim: { 'nodefs.available': '0%' } },
      names: 'evictionMinimumReclaim["nodefs.available"]',
    },
  ],
  'topologyManagerPolicyOptions: key not in {prefer-closest-numa-nodes, max-allowable-numa-nodes}, bad bool/int, or max-allowable-numa-nodes < 8':
    [
      {
        fields: { topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '7' } },
        names: 'topologyManagerPolicyOptions["max-allowable-numa-nodes"]',
      },
    ],
  'cpuManagerPolicy: not in {none, static}': [{ fields: { cpuManagerPolicy: 'dynamic' }, names: 'cpuManagerPolicy' }],
  'cpuManagerPolicy,kubeReserved,systemReserved,reservedSystemCPUs: static && reserved cpu == 0': [
    { fields: { cpuManagerPolicy: 'static' }, names: 'cpuManagerPolicy' },
  ],
  'cpuManagerPolicyOptions: key not in {full-pcpus-only, distribute-cpus-across-numa, align-by-socket, distribute-cpus-across-cores, strict-cpu-reservation, prefer-align-cpus-by-uncorecache} or bad bool':
    [{ fields: cpu('fast'), names: `${CPU}.fast` }],
  'cpuManagerPolicyOptions: non-empty with policy none': [
    { fields: { [CPU]: { 'full-pcpus-only': 'true' } }, names: CPU },
  ],
  'cpuManagerPolicyOptions: align-by-socket or distribute-cpus-across-cores': [
    { fields: cpu('align-by-socket'), names: `${CPU}["align-by-socket"]` },
  ],
  'cpuManagerPolicyOptions: distribute-cpus-across-numa': [
    {
      fields: { ...cpu('distribute-cpus-across-numa'), ...off('CPUManagerPolicyBetaOptions') },
      names: `${CPU}["distribute-cpus-across-numa"]`,
    },
  ],
  'cpuManagerPolicyOptions: full-pcpus-only && distribute-cpus-across-cores': [
    { fields: cpu('full-pcpus-only', 'distribute-cpus-across-cores'), names: CPU },
  ],
  'cpuManagerPolicyOptions: distribute-cpus-across-numa && distribute-cpus-across-cores': [
    { fields: cpu('distribute-cpus-across-numa', 'distribute-cpus-across-cores'), names: CPU },
  ],
  'cpuManagerPolicyOptions: prefer-align-cpus-by-uncorecache && (distribute-cpus-across-cores or distribute-cpus-across-numa)':
    [{ fields: cpu('prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'), names: CPU }],
  'cpuManagerPolicyOptions,topologyManagerPolicy: align-by-socket && (single-numa-node, or more sockets than NUMA nodes)':
    [
      {
        fields: {
          ...cpu('align-by-socket'),
          featureGates: { CPUManagerPolicyAlphaOptions: true },
          topologyManagerPolicy: 'single-numa-node',
        },
        names: CPU,
      },
    ],
  'memoryManagerPolicy: not in {None, Static} (BestEffort on windows only)': [
    { fields: { memoryManagerPolicy: 'BestEffort' }, names: 'memoryManagerPolicy' },
  ],
  'systemCgroups: == "/"': [{ fields: { systemCgroups: '/', cgroupRoot: '/' }, names: 'systemCgroups' }],
  '--root-dir: "" or not a cleaned path': [
    { argv: ['--root-dir='], names: '--root-dir' },
    { argv: ['--root-dir=/a/../b'], names: '--root-dir' },
  ],
  'syncFrequency: value <= 0': [{ fields: { syncFrequency: '-1s' }, names: 'syncFrequency' }],
  'configMapAndSecretChangeDetectionStrategy: not in {Get, Cache, Watch}': [
    {
      fields: { configMapAndSecretChangeDetectionStrategy: 'Poll' },
      names: 'configMapAndSecretChangeDetectionStrategy',
    },
  ],
  'containerLogMaxSize: unparsable quantity (negative turns rotation off)': [
    { fields: { containerLogMaxSize: 'big' }, names: 'containerLogMaxSize' },
  ],
  'allowedUnsafeSysctls[]: bad name pattern or not a namespaced sysctl': [
    { fields: { allowedUnsafeSysctls: ['vm.swappiness'] }, names: 'allowedUnsafeSysctls[0]' },
  ],
  '--minimum-container-ttl-duration: value < 0': [
    { argv: ['--minimum-container-ttl-duration=-1s'], names: '--minimum-container-ttl-duration' },
  ],
  '--node-labels: kubernetes.io or k8s.io key outside the allowed set and prefixes': [
    { argv: ['--node-labels=node-role.kubernetes.io/master='], names: '--node-labels' },
  ],
  '--node-labels: invalid label key or value': [
    { argv: ['--node-labels=a b=c'], names: '--node-labels' },
    { argv: ['--node-labels=a=-'], names: '--node-labels' },
  ],
  '--node-ip: unparsable, or two addresses of the same family': [
    { argv: ['--node-ip=1.2.3'], names: '--node-ip' },
    { argv: ['--node-ip=1.2.3.4,5.6.7.8'], names: '--node-ip' },
  ],
  '--cloud-provider: not in {"", external}': [{ argv: ['--cloud-provider=aws'], names: '--cloud-provider' }],
  'authorization.mode: "" or not in {AlwaysAllow, Webhook}': [
    { fields: { authorization: { mode: 'RBAC' } }, names: 'authorization.mode' },
    { argv: ['--authorization-mode='], names: '--authorization-mode: authorization.mode' },
  ],
  'tlsCipherSuites[]: unknown cipher name (insecure ones only warn)': [
    { fields: { tlsCipherSuites: ['TLS_NULL'] }, names: 'tlsCipherSuites[0]' },
  ],
  'tlsMinVersion: not in {VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13}': [
    { fields: { tlsMinVersion: '1.2' }, names: 'tlsMinVersion' },
  ],
  'tlsCurvePreferences[]: unknown curve': [{ fields: { tlsCurvePreferences: [1] }, names: 'tlsCurvePreferences[0]' }],
};

/** Rows that no configuration can break by itself, and why. Loading has tests of its own in load-config.test.ts. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'imageMaximumGCAge: value != 0': 'the gate is locked on',
  'memorySwap: any field set': 'the gate is locked on',
  'crashLoopBackOff.maxContainerRestartPeriod: unset': 'the default fills it',
  'memoryThrottlingFactor: unset': 'the default fills it',
  "logging.format: format's own gate disabled": 'text and json have no gate of their own',
  'logging.format: non-text format combined with klog flags unsupported by it': 'vmodule is the only one; it has a row',
  'enableSystemLogQuery: true': 'the gate is locked on',
  'topologyManagerPolicyOptions: non-empty': 'the gate is locked on',
  'podLogsDir: == ""': 'an empty value counts as not set',
  'podLogsDir: not an absolute path': "a relative one is joined to the file's folder, and there is no flag",
  'failCgroupV1: value == true && host uses cgroup v1': 'load-config.test.ts',
  'singleProcessOOMKill: set to false && host uses cgroup v1': 'load-config.test.ts',
  'memorySwap.swapBehavior: LimitedSwap on cgroup v1': 'load-config.test.ts',
  'failSwapOn: true && /proc/swaps has more than its header line': 'load-config.test.ts',
  'singleProcessOOMKill: set': 'Windows',
  'userNamespaces: set': 'Windows',
};
