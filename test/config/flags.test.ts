import { describe, expect, test } from '@jest/globals';
import { resolve } from 'node:path';
import { formatDuration, parseDuration } from '../../bin/config/duration.ts';
import { ALL_FLAGS } from '../../bin/config/parse-flags.ts';
import { HEAD, load, problems } from './load.ts';

describe("flags in the kubelet's syntax", () => {
  test.each([
    [['--max-pods=5'], { maxPods: 5 }],
    [['--max-pods', '5'], { maxPods: 5 }],
    [['--max_pods=5'], { maxPods: 5 }],
    [['--max-pods=5', '--max-pods=6'], { maxPods: 6 }],
    [['--fail-swap-on=false'], { failSwapOn: false }],
    [['--protect-kernel-defaults'], { protectKernelDefaults: true }],
    [['--protect-kernel-defaults=T', '-v', '4'], { protectKernelDefaults: true, logging: { verbosity: 4 } }],
    [['-v=2'], { logging: { verbosity: 2 } }],
    [['-v2'], { logging: { verbosity: 2 } }],
    [['--v=3'], { logging: { verbosity: 3 } }],
    [['--oom-score-adj', '-5'], { oomScoreAdj: -5 }],
    [['--sync-frequency=90s'], { syncFrequency: '1m30s' }],
    [
      ['--cluster-dns=10.0.0.1,10.0.0.2', '--cluster-dns', '10.0.0.3'],
      { clusterDNS: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] },
    ],
    [
      ['--kube-reserved=cpu=1,memory=1Gi', '--kube-reserved=pid=10'],
      { kubeReserved: { cpu: '1', memory: '1Gi', pid: '10' } },
    ],
    [
      ['--eviction-hard=memory.available<5%,nodefs.available<1Gi'],
      { evictionHard: { 'memory.available': '5%', 'nodefs.available': '1Gi' } },
    ],
    [['--eviction-minimum-reclaim=nodefs.available=1Gi'], { evictionMinimumReclaim: { 'nodefs.available': '1Gi' } }],
    [
      ['--manifest-url-header=a:1,b:2', '--manifest-url-header=a:3'],
      { staticPodURLHeader: { a: ['1', '3'], b: ['2'] } },
    ],
    [
      ['--vmodule=pod=4,sync*=2'],
      {
        logging: {
          vmodule: [
            { filePattern: 'pod', verbosity: 4 },
            { filePattern: 'sync*', verbosity: 2 },
          ],
        },
      },
    ],
    [
      ['--register-with-taints=a=b:NoSchedule,c:NoExecute'],
      {
        registerWithTaints: [
          { key: 'a', value: 'b', effect: 'NoSchedule' },
          { key: 'c', effect: 'NoExecute' },
        ],
      },
    ],
    [
      ['--reserved-memory=0:memory=1Gi,hugepages-2Mi=64Mi'],
      { reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '64Mi' } }] },
    ],
    [['--log-format=json'], { logging: { format: 'json' } }],
    [['--seccomp-default'], { seccompDefault: true }],
  ])('%j', (argv, expected) => {
    expect(load(argv).config).toMatchObject(expected);
  });

  test('every flag of the kubelet is taken, with a value of its type', () => {
    const samples: Record<string, string> = {
      bool: 'true',
      version: 'true',
      duration: '10s',
      ip: '127.0.0.1',
      Level: '2',
      mapStringBool: 'MemoryQoS=true',
      'reserved-memory': '0:memory=1Gi',
      '[]v1.Taint': 'a=b:NoSchedule',
      'pattern=N': 'a=1',
      colonSeparatedMultimapStringString: 'a:b',
      mapStringString: 'a=b',
    };
    const special: Record<string, string> = {
      'eviction-hard': 'memory.available<5%',
      'eviction-soft': 'memory.available<5%',
    };
    for (const { name, type, default: value } of ALL_FLAGS) {
      const text = special[name] ?? samples[type] ?? String(value ?? 'x');
      // Some of these values break a rule of validation; none may be refused as a flag.
      const refused = problems(() => load([`--${name}=${text}`])).filter((line) =>
        /unknown flag|is no flag|needs a value/.test(line),
      );
      expect(refused).toEqual([]);
    }
  });

  test.each([
    [['--no-such-flag'], '--no-such-flag: unknown flag'],
    [['--maxpods=5'], '--maxpods: unknown flag; did you mean --max-pods?'],
    [['-x'], '-x: unknown flag'],
    [['--max-pods'], '--max-pods: needs a value: accepted is int32'],
    [['--max-pods=many'], '--max-pods: "many" is not a whole number: accepted are 0 to 2147483647'],
    [['--fail-swap-on=maybe'], '--fail-swap-on: "maybe" is not a bool: accepted are true and false'],
    [
      ['--fail-swap-on', 'false'],
      'false: is no flag: `statelet run` and `statelet config` take no arguments, only flags',
    ],
    [['--sync-frequency=1day'], '--sync-frequency: "1day" is not a duration'],
    [
      ['--eviction-hard=memory.available=5%'],
      '--eviction-hard: "memory.available=5%" is not a map: accepted are signal<quantity',
    ],
    [['--feature-gates=MemoryQoS'], '--feature-gates: "MemoryQoS" is not a map'],
    [['--register-with-taints=a'], '--register-with-taints: "a" is not a list of taints'],
    [['manifests'], 'manifests: is no flag'],
    [
      ['--manifest-url=ftp://x/'],
      '--manifest-url: staticPodURL: scheme ftp is not accepted: accepted is a URL with scheme http or https',
    ],
  ])('%j is refused', (argv, line) => {
    expect(problems(() => load(argv)).join('\n')).toContain(line);
  });

  test('a header given on the command line is not shown when it is wrong', () => {
    expect(problems(() => load(['--manifest-url-header=s3cret'])).join()).not.toContain('s3cret');
  });

  test('a deprecated flag works and is noted with the field to use instead', () => {
    expect(load(['--max-pods=5']).warnings).toContain(
      '--max-pods: deprecated; set maxPods in the file given to --config',
    );
  });

  test('flags without a field are there with their defaults', () => {
    expect(load(['--node-labels=a=b', '--root-dir=/r']).flags).toMatchObject({
      rootDir: '/r',
      nodeLabels: { a: 'b' },
      hostnameOverride: '',
      maximumDeadContainersPerContainer: 1,
    });
  });

  test('a relative path begins at the working directory', () => {
    const { flags, config, containerLogsDir } = load(
      ['--root-dir=./r', '--config=k', '--pod-manifest-path=m', '--resolv-conf=../r', '--container-logs-dir=l'],
      { [resolve('k')]: HEAD },
    );
    expect(flags).toMatchObject({ rootDir: resolve('r'), config: resolve('k') });
    expect(config).toMatchObject({ staticPodPath: resolve('m'), resolvConf: resolve('../r') });
    expect(containerLogsDir).toBe(resolve('l'));
    expect(load(['--pod-manifest-path=']).config.staticPodPath).toBe('');
  });

  test('links to container logs are made in /var/log/containers, by the quick start nowhere', () => {
    expect(load([]).containerLogsDir).toBe('/var/log/containers');
    expect(load(['--quickstart']).containerLogsDir).toBe('');
    expect(load(['--quickstart', '--container-logs-dir=/l']).containerLogsDir).toBe('/l');
    expect(load(['--container-logs-dir=']).containerLogsDir).toBe('');
  });

  test.each([
    ['Node-1.Example', 'node-1.example'],
    [' node ', 'node'],
    ['', ''],
  ])('--hostname-override=%j gives %j', (given, name) => {
    expect(load([`--hostname-override=${given}`]).flags.hostnameOverride).toBe(name);
  });

  test.each(['A b/c', ' ', 'a_b', '-a', 'a-', 'a..b', 'a.', '../x', 'ä', 'a\nb', 'a'.repeat(254)])(
    '--hostname-override=%j is refused with what is accepted',
    (given) => {
      expect(problems(() => load([`--hostname-override=${given}`]))).toEqual([
        expect.stringMatching(/^--hostname-override: ".*is not a node name: accepted are up to 253 letters, digits/),
      ]);
    },
  );

  test('--seccomp-default=false does not take back what the file says', () => {
    const { config } = load(['--config=/k', '--seccomp-default=false'], {
      '/k': 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nseccompDefault: true\n',
    });
    expect(config.seccompDefault).toBe(true);
  });
});

describe('durations', () => {
  test.each([
    ['1h30m', '1h30m0s'],
    ['90s', '1m30s'],
    ['1.5h', '1h30m0s'],
    ['100ms', '100ms'],
    ['1500us', '1.5ms'],
    ['0', '0s'],
    ['-10s', '-10s'],
    ['1m.5s', '1m0.5s'],
    ['10ns', '10ns'],
    ['1500ns', '1.5µs'],
  ])('%s is %s', (text, printed) => {
    expect(formatDuration(parseDuration(text) ?? -1n)).toBe(printed);
  });

  test.each(['', '10', 's', '1 s', '1d', '.s', '1e3s', '9999999999h'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
