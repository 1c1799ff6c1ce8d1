import { describe, expect, test } from '@jest/globals';
import { hostProblems } from '../../bin/config/host-rules.ts';
import { effectiveValues, orderedConfig } from '../../bin/config/effective.ts';
import { HEAD, load, loadFields, problems } from './load.ts';

const DROP_IN = (text: string) => HEAD + text;

describe('precedence', () => {
  test('B150 default < main file < drop-ins in name order < flags really given, with the origin of each value', () => {
    const { config, origins } = load(['--config=/etc/k.yaml', '--config-dir=/etc/d', '--max-pods=7'], {
      '/etc/k.yaml': `${HEAD}maxPods: 5\nclusterDomain: main\nsyncFrequency: 30s\n`,
      '/etc/d/20-b.conf': DROP_IN('resolvConf: /b/resolv.conf\nclusterDomain: second\nmaxPods: 6\n'),
      '/etc/d/10-a.conf': DROP_IN('resolvConf: /a/resolv.conf\nclusterDomain: first\n'),
    });
    expect(config).toMatchObject({
      resolvConf: '/b/resolv.conf',
      clusterDomain: 'second',
      maxPods: 7,
      syncFrequency: '30s',
      fileCheckFrequency: '20s',
    });
    expect(origins).toMatchObject({
      resolvConf: 'drop-in:/etc/d/20-b.conf',
      clusterDomain: 'drop-in:/etc/d/20-b.conf',
      maxPods: 'flag:--max-pods',
      syncFrequency: 'file:/etc/k.yaml',
      fileCheckFrequency: 'default',
    });
  });

  test('the value of a flag that was not given never wins over a file', () => {
    // The flag's own default is true, AlwaysAllow and 10255.
    const { config } = loadFields({});
    expect(config.authentication.anonymous.enabled).toBe(false);
    expect(config.authorization.mode).toBe('Webhook');
    expect(config.readOnlyPort).toBe(0);
  });

  test('without a file the legacy defaults hold', () => {
    const { config } = load([]);
    expect(config.authentication).toMatchObject({ anonymous: { enabled: true }, webhook: { enabled: false } });
    expect(config.authorization.mode).toBe('AlwaysAllow');
    expect(config.readOnlyPort).toBe(10255);
    expect(config.evictionHard).toBeUndefined();
  });

  test('drop-ins are a merge patch: maps merge by key, lists are replaced, null takes a value back to its default', () => {
    const { config, origins } = load(['--config=/k', '--config-dir=/d'], {
      '/k': `${HEAD}kubeReserved: {cpu: 100m, memory: 1Gi}\nclusterDNS: [10.0.0.1, 10.0.0.2]\nmaxPods: 9\n`,
      '/d/a.conf': DROP_IN('kubeReserved: {memory: 2Gi}\nclusterDNS: [10.0.0.3]\nmaxPods: null\n'),
    });
    expect(config.kubeReserved).toEqual({ cpu: '100m', memory: '2Gi' });
    expect(config.clusterDNS).toEqual(['10.0.0.3']);
    expect(config.maxPods).toBe(110);
    expect(origins).toMatchObject({
      'kubeReserved.cpu': 'file:/k',
      'kubeReserved.memory': 'drop-in:/d/a.conf',
      maxPods: 'default',
    });
  });

  test('feature gates merge key by key, from flags as well', () => {
    const { config, origins } = loadFields({ featureGates: { MemoryQoS: true, QOSReserved: true } }, [
      '--feature-gates=QOSReserved=false,EventedPLEG=true',
    ]);
    expect(config.featureGates).toEqual({ MemoryQoS: true, QOSReserved: false, EventedPLEG: true });
    expect(origins['featureGates.MemoryQoS']).toBe('file:/k.yaml');
    expect(origins['featureGates.QOSReserved']).toBe('flag:--feature-gates');
  });

  test('other maps from flags replace the whole map', () => {
    const { config } = loadFields({ kubeReserved: { cpu: '1', memory: '1Gi' } }, ['--kube-reserved=cpu=2']);
    expect(config.kubeReserved).toEqual({ cpu: '2' });
  });

  test('relative paths are joined to the folder of their file', () => {
    const { config } = load(['--config=/etc/kubernetes/k.yaml'], {
      '/etc/kubernetes/k.yaml': `${HEAD}staticPodPath: manifests\nresolvConf: ""\ntlsCertFile: /abs\n`,
    });
    expect(config).toMatchObject({ staticPodPath: '/etc/kubernetes/manifests', resolvConf: '', tlsCertFile: '/abs' });
  });
});

describe('defaults that depend on others', () => {
  const eviction = (fields: object) => loadFields(fields).config.evictionHard;

  test('evictionHard has its defaults where a file sets none', () => {
    expect(eviction({})).toEqual({
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    });
  });

  test('evictionHard that is set drops all defaults, unless they are to be merged', () => {
    expect(eviction({ evictionHard: { 'memory.available': '1Gi' } })).toEqual({ 'memory.available': '1Gi' });
    expect(eviction({ evictionHard: {} })).toEqual({});
    expect(eviction({ evictionHard: { 'memory.available': '1Gi' }, mergeDefaultEvictionSettings: true })).toMatchObject(
      {
        'memory.available': '1Gi',
        'nodefs.available': '10%',
      },
    );
  });

  test.each([
    [{}, { serializeImagePulls: true, nodeStatusReportFrequency: '5m0s' }],
    [{ maxParallelImagePulls: 2 }, { serializeImagePulls: false }],
    [{ maxParallelImagePulls: 1 }, { serializeImagePulls: true }],
    [{ nodeStatusUpdateFrequency: '20s' }, { nodeStatusReportFrequency: '20s' }],
    [{ nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '1m' }, { nodeStatusReportFrequency: '1m0s' }],
    [{}, { crashLoopBackOff: { maxContainerRestartPeriod: '5m0s' } }],
    [{ podPidsLimit: -7 }, { podPidsLimit: -1 }],
    [{ podPidsLimit: null }, { podPidsLimit: -1 }],
    [{ enableServer: false }, { enableServer: false }],
    [{ enableServer: null }, { enableServer: true }],
    [
      { oomScoreAdj: 0, healthzPort: 0 },
      { oomScoreAdj: 0, healthzPort: 0 },
    ],
    [{ logging: { flushFrequency: 3_000_000_000 } }, { logging: { flushFrequency: '3s' } }],
  ])('%j gives %j', (fields, expected) => {
    expect(loadFields(fields).config).toMatchObject(expected);
  });

  test('a zero where the kubelet has no pointer counts as not set, and a warning says so', () => {
    const { config, warnings } = loadFields({ maxPods: 0 });
    expect(config.maxPods).toBe(110);
    expect(warnings).toContain(
      '/k.yaml: maxPods: 0 counts as not set here, as in the kubelet; the default 110 is used',
    );
  });
});

describe('files that cannot be used', () => {
  const good = { '/etc/d/10-a.conf': DROP_IN('maxPods: 5\n') };

  test('B149 an empty drop-in and one without kind are refused, each with file name and reason', () => {
    const lines = problems(() =>
      load(['--config-dir=/etc/d'], { ...good, '/etc/d/20-b.conf': '', '/etc/d/30-c.conf': 'maxPods: 6\n' }),
    );
    expect(lines).toEqual([
      '/etc/d/20-b.conf: is empty: accepted is apiVersion: kubelet.config.k8s.io/v1beta1 with kind: KubeletConfiguration',
      '/etc/d/30-c.conf: has no apiVersion and no kind: accepted is apiVersion: kubelet.config.k8s.io/v1beta1 with kind: KubeletConfiguration',
    ]);
  });

  test.each([
    ['missing', undefined, 'cannot be read: ENOENT'],
    ['empty', '', 'is empty'],
    ['only comments', '# nothing\n', 'nothing but comments'],
    ['of another kind', 'apiVersion: v1\nkind: Pod\n', 'has apiVersion "v1" and kind "Pod"'],
    ['a list', '[1, 2]\n', 'is not an object'],
    ['not YAML', `${HEAD}a: [\n`, 'is not YAML'],
    ['nested without end', `${HEAD}a: ${'['.repeat(100_000)}`, 'is nested too deeply: accepted are up to 500 levels'],
    ['a list in lists on one line', `${HEAD}${'- '.repeat(50_000)}`, 'is nested too deeply: accepted are up to 500'],
    ['not UTF-8', new Uint8Array([0xff, 0xfe, 0x41]), 'is not UTF-8'],
    ['huge', `${HEAD}# ${'x'.repeat(3 * 1024 * 1024)}\n`, 'bytes long'],
    ['a bomb of aliases', bomb(), 'too many or circular aliases'],
  ])('a main file that is %s', (_, text, reason) => {
    const lines = problems(() => load(['--config=/k.yaml'], text === undefined ? {} : { '/k.yaml': text }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\/k\.yaml: /);
    expect(lines[0]).toContain(reason);
  });

  test.each([
    [{ maxPods: '5' }, 'maxPods', 'whole numbers, 0 to 2147483647'],
    [{ maxPods: 1.5 }, 'maxPods', 'whole numbers'],
    [{ maxPods: 2147483648 }, 'maxPods', 'whole numbers'],
    [{ maxPods: 'many' }, 'maxPods', 'whole numbers, 0 to 2147483647'],
    [{ readOnlyPort: 1.5 }, 'readOnlyPort', 'whole numbers, 0 (off) and 1 to 65535'],
    [{ nodeStatusMaxImages: 'all' }, 'nodeStatusMaxImages', 'whole numbers, -1 to 2147483647'],
    [{ enableServer: 'yes' }, 'enableServer', 'true and false'],
    [{ syncFrequency: 60 }, 'syncFrequency', 'duration in Go'],
    [{ syncFrequency: '1 minute' }, 'syncFrequency', 'duration in Go'],
    [{ clusterDNS: '10.0.0.1' }, 'clusterDNS', 'list of string'],
    [{ clusterDNS: [1] }, 'clusterDNS[0]', 'accepted is text'],
    [{ kubeReserved: { cpu: 1 } }, 'kubeReserved.cpu', 'accepted is text'],
    [{ kubeReserved: ['cpu'] }, 'kubeReserved', 'by name'],
    [{ authentication: true }, 'authentication', 'its fields x509, webhook, anonymous'],
    [{ authentication: { x509: { clientCAFile: 3 } } }, 'authentication.x509.clientCAFile', 'accepted is text'],
    [{ reservedMemory: [{ numaNode: 0, limits: { memory: 'x' } }] }, 'reservedMemory[0].limits.memory', 'quantity'],
    [{ logging: { verbosity: -1 } }, 'logging.verbosity', '0 to 2147483647'],
    [
      { registerWithTaints: [{ key: 'a', effect: 'NoExecute', timeAdded: 'now' }] },
      'registerWithTaints[0].timeAdded',
      'RFC 3339',
    ],
  ])('a wrong type names file, field and what is accepted: %j', (fields, path, accepted) => {
    const [line = ''] = problems(() => loadFields(fields));
    expect(line.startsWith(`/k.yaml: ${path}: `)).toBe(true);
    expect(line).toContain(accepted);
  });

  test('the value of a header, which may be a token, is in no message and no output', () => {
    const [line = ''] = problems(() => loadFields({ staticPodURLHeader: { Authorization: ['s3cret', 5] } }));
    expect(line).toContain('staticPodURLHeader.Authorization[1]');
    expect(problems(() => loadFields({ staticPodURLHeader: { Authorization: 's3cret' } })).join()).not.toContain(
      's3cret',
    );
    const loaded = loadFields({ staticPodURLHeader: { Authorization: ['s3cret'] } });
    expect(loaded.config.staticPodURLHeader).toEqual({ Authorization: ['s3cret'] });
    expect(JSON.stringify([orderedConfig(loaded), effectiveValues(loaded), loaded.warnings])).not.toContain('s3cret');
  });

  test('all problems are told at once', () => {
    expect(problems(() => loadFields({ maxPods: -1, port: 70000, oomScoreAdj: 5000 }))).toHaveLength(3);
  });
});

describe('unknown and repeated fields', () => {
  test.each([
    ['main file', ['--config=/k.yaml'], '/k.yaml'],
    ['drop-in', ['--config-dir=/d'], '/d/a.conf'],
  ])('an unknown field in the %s is a warning with file and path', (_, argv, file) => {
    const texts = { [file]: `${HEAD}maxpods: 5\nauthentication: {x509: {caFile: /x}}\n` };
    const { config, warnings } = load(argv, texts);
    expect(config.maxPods).toBe(110);
    expect(warnings).toContain(`${file}: maxpods: unknown field, it has no effect; did you mean maxPods?`);
    expect(warnings).toContain(`${file}: authentication.x509.caFile: unknown field, it has no effect`);
    expect(problems(() => load([...argv, '--strict-config'], texts))).toEqual([
      `${file}: maxpods: unknown field, refused by --strict-config; did you mean maxPods?`,
      `${file}: authentication.x509.caFile: unknown field, refused by --strict-config; accepted are clientCAFile`,
    ]);
  });

  test('a field said twice is a warning in the main file, an error in a drop-in and under --strict-config', () => {
    const text = `${HEAD}maxPods: 5\nmaxPods: 6\n`;
    const { config, warnings } = load(['--config=/k'], { '/k': text });
    expect(config.maxPods).toBe(6);
    expect(warnings).toContain('/k: maxPods: is said twice, the last one is used');
    expect(problems(() => load(['--config-dir=/d'], { '/d/a.conf': text }))).toEqual([
      '/d/a.conf: maxPods: is said twice: accepted is once',
    ]);
    expect(problems(() => load(['--config=/k', '--strict-config'], { '/k': text }))).toEqual([
      '/k: maxPods: is said twice, refused by --strict-config: accepted is once',
    ]);
  });

  test('a file in the drop-in folder that is no *.conf is skipped with a warning', () => {
    const { config, warnings } = load(['--config-dir=/d'], {
      '/d/a.yaml': 'maxPods: [',
      '/d/b.conf': DROP_IN('maxPods: 4'),
    });
    expect(config.maxPods).toBe(4);
    expect(warnings).toContain('/d/a.yaml: skipped: names of drop-in files end in .conf');
  });

  test('a drop-in folder that cannot be read is an error', () => {
    expect(problems(() => load(['--config-dir=/d', '--config=/none'], {}))).toEqual([
      expect.stringMatching(/^\/none: cannot be read/),
    ]);
  });
});

test('what is set and has no effect yet is named, by its origin', () => {
  const { warnings } = loadFields({ clusterDNS: ['10.0.0.1'], clusterDomain: 'c', staticPodPath: '/m' }, [
    '--node-labels=a=b',
    '--container-hints=/x',
    '--max-pods=5',
    '--image-gc-low-threshold=2',
  ]);
  expect(warnings).toContain('/k.yaml: no effect in this version: clusterDomain, clusterDNS');
  expect(warnings).toContain('command line: no effect in this version: --container-hints, --image-gc-low-threshold');
});

test('what acts in part is told with the part', () => {
  const { warnings } = loadFields({ evictionHard: { 'memory.available': '5%' } });
  expect(warnings).toContain(
    "/k.yaml: evictionHard: acts on the node's allocatable resources only; nothing is evicted yet",
  );
  expect(warnings.filter((line) => line.includes('no effect'))).toEqual([]);
  expect(loadFields({}).warnings).toEqual([]);
});

test('the systemd cgroup driver, which `run` refuses, is warned of by its origin while pods have cgroups', () => {
  const refused = (fields: object, argv: string[] = []) =>
    loadFields(fields, argv).warnings.filter((line) => line.includes('is not supported yet'));
  expect(refused({ cgroupDriver: 'systemd' })).toEqual([
    expect.stringMatching(/^\/k\.yaml: cgroupDriver: "systemd" .*`statelet run` refuses it.*accepted are cgroupfs/),
  ]);
  expect(refused({}, ['--cgroup-driver=systemd'])).toEqual([expect.stringMatching(/^--cgroup-driver: /)]);
  expect(refused({ cgroupDriver: 'systemd', cgroupsPerQOS: false, enforceNodeAllocatable: [] })).toEqual([]);
  expect(refused({ cgroupDriver: 'cgroupfs' })).toEqual([]);
});

test('what is set to what this version does anyway is not named', () => {
  const { warnings } = loadFields(
    {
      enforceNodeAllocatable: [],
      imageGCHighThresholdPercent: 100,
      cpuManagerPolicy: 'none',
      topologyManagerPolicy: 'none',
    },
    ['--register-node=false', '--rotate-certificates'],
  );
  expect(warnings.filter((line) => line.includes('no effect'))).toEqual([
    'command line: no effect in this version: --rotate-certificates',
  ]);
});

test('YAML is read as the kubelet reads it: 1.1 booleans, no times', () => {
  const { config } = load(['--config=/k'], {
    '/k': `${HEAD}enableServer: off\nclusterDomain: 2026-01-02\nkubeReserved: {cpu: "1"}\n`.replace(
      '2026-01-02',
      '"x"',
    ),
  });
  expect(config.enableServer).toBe(false);
  const [line = ''] = problems(() => load(['--config=/k'], { '/k': `${HEAD}maxPods: 1:30\n` }));
  expect(line).toContain('"1:30" is not an int32');
});

describe('what the host does not allow', () => {
  const host = { cgroupVersion: 1, swapOn: true, hostName: 'node-1' } as const;
  const paths = (fields: object) => hostProblems(loadFields(fields), host).map((p) => p.path);

  test('cgroup v1 is refused, and the text says how to allow it', () => {
    const [problem] = hostProblems(loadFields({ failSwapOn: false }), host);
    expect(problem).toMatchObject({ origin: 'defaults', path: 'failCgroupV1' });
    expect(problem?.message).toContain('failCgroupV1: false (--fail-cgroupv1=false)');
  });

  test.each([
    [{ failCgroupV1: false }, ['failSwapOn']],
    [{ failCgroupV1: false, failSwapOn: false }, []],
    [{ failCgroupV1: false, failSwapOn: false, singleProcessOOMKill: false }, ['singleProcessOOMKill']],
    [
      { failCgroupV1: false, failSwapOn: false, memorySwap: { swapBehavior: 'LimitedSwap' } },
      ['memorySwap.swapBehavior'],
    ],
  ])('%j: %j', (fields, expected) => {
    expect(paths(fields)).toEqual(expected);
  });

  test.each(['Joes_Laptop', ''])('a host whose name is %j needs --hostname-override', (hostName) => {
    const odd = { ...host, cgroupVersion: 2, swapOn: false, hostName } as const;
    expect(hostProblems(load([]), odd)).toMatchObject([
      { origin: '--hostname-override', message: expect.stringContaining('accepted are up to 253') },
    ]);
    expect(hostProblems(load(['--hostname-override=node']), odd)).toEqual([]);
    expect(hostProblems(load(['--quickstart']), odd)).toEqual([]);
  });

  test('a host with cgroup v2 and no swap allows all of it', () => {
    expect(
      hostProblems(loadFields({ singleProcessOOMKill: false }), { cgroupVersion: 2, swapOn: false, hostName: 'n' }),
    ).toEqual([]);
  });
});

/** 10^9 strings when expanded. */
function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 10; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return `${HEAD}${lines.join('\n')}\n`;
}
