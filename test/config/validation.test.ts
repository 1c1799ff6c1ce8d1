import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../support/import-graph.ts';
import { loadFields, problems } from './load.ts';
import { BROKEN, ELSEWHERE } from './validation-cases.ts';

const rows = readFileSync(join(ROOT, 'test/facts/kubelet-config-validation.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([fields = '', condition = '', , stage = '']) => ({ key: `${fields}: ${condition}`, fields, stage }));

/** Start-up checks against the machine's CPUs, memory, cgroups, kernel, certificates and state files come with what uses them. */
const LATER =
  /online CPUs|NUMA node count|state file|NUMA node absent|Static && sum|defaulting to|cgroup does not exist|no kubeconfig client|unreadable or no certificate|subordinate id|kernel tunable|WATCHDOG/;

describe('every rule of the kubelet is kept', () => {
  const keys = new Set(rows.filter((r) => !r.fields.startsWith('(') && r.stage !== 'load').map((r) => r.key));

  test('a case or a reason for each row of the table', () => {
    const missing = [...keys].filter((k) => !BROKEN[k] && !ELSEWHERE[k] && !LATER.test(k));
    expect(missing).toEqual([]);
  });

  test('no case without its row', () => {
    expect([...Object.keys(BROKEN), ...Object.keys(ELSEWHERE)].filter((k) => !keys.has(k))).toEqual([]);
  });

  describe.each(Object.entries(BROKEN))('%s', (_, cases) => {
    test.each(cases)('is refused: $names', ({ fields = {}, argv = [], names }) => {
      const lines = problems(() => loadFields(fields, argv));
      const found = lines.find((line) => line.replace(/^(\/k\.yaml|defaults): /, '').startsWith(`${names}: `));
      expect(found ?? lines).toMatch(/accepted|needs feature gate|not accepted|leave it out|rules out/);
    });
  });
});

test('the defaults break no rule, with a file and without', () => {
  expect(problems(() => loadFields({}))).toEqual([]);
});

test.each([
  ['ftp://x/', 'scheme ftp is not accepted'],
  ['file:///etc/pod.yaml', 'scheme file is not accepted'],
  ['not a url', 'is not a URL'],
  ['//user:s3cret@x/', 'is not a URL'],
])('staticPodURL %j is refused with the schemes that are accepted, and not shown', (staticPodURL, why) => {
  const lines = problems(() => loadFields({ staticPodURL }));
  expect(lines).toEqual([
    expect.stringContaining(`/k.yaml: staticPodURL: ${why}: accepted is a URL with scheme http or https`),
  ]);
  expect(lines.join()).not.toContain('s3cret');
});

test.each([
  { staticPodURL: '' },
  { staticPodURL: 'http://127.0.0.1:8080/pods.yaml' },
  { staticPodURL: 'https://user:secret@example.com/pods' },
  { healthzPort: 0, readOnlyPort: 10255, oomScoreAdj: 0 },
  { shutdownGracePeriod: '30s', shutdownGracePeriodCriticalPods: '10s' },
  { evictionSoft: { 'memory.available': '5%' }, evictionSoftGracePeriod: { 'memory.available': '1m30s' } },
  { evictionHard: { 'memory.available': '0%', 'nodefs.available': '100%', 'pid.available': '1k' } },
  { cpuManagerPolicy: 'static', kubeReserved: { cpu: '500m', 'ephemeral-storage': '1Gi', pid: '100' } },
  { enforceNodeAllocatable: ['pods', 'system-reserved'], systemReservedCgroup: '/system' },
  { enforceNodeAllocatable: [], cgroupsPerQOS: false },
  { registerWithTaints: [{ key: 'example.com/a', value: 'b', effect: 'NoSchedule' }] },
  {
    reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '64Mi' } }],
    reservedSystemCPUs: '0-1,3',
  },
  { tracing: { endpoint: 'localhost:4317', samplingRatePerMillion: 1 } },
  { tracing: { endpoint: 'unix:///run/otel.sock' } },
  { allowedUnsafeSysctls: ['net.core.somaxconn', 'kernel.msg*', 'kernel.sem'], containerLogMaxSize: '-1' },
  { crashLoopBackOff: { maxContainerRestartPeriod: '1s' }, maxParallelImagePulls: 5 },
  {
    imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
    preloadedImagesVerificationAllowlist: ['registry.io:5000/a/b', 'registry.io/*', 'registry.io/a/*', 'busybox'],
  },
])('%j is accepted', (fields) => {
  expect(problems(() => loadFields(fields))).toEqual([]);
});
