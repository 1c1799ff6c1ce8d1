import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { EmbeddedRuntime } from '../../services/cri/embedded/index.ts';
import type { Explanation } from '../../services/explain/explain.types.ts';
import { Daemon } from '../support/daemon.ts';
import { faultyRuntime } from '../support/node.ts';
import { FOREVER, shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';

let runtime: EmbeddedRuntime;
let daemon: Daemon;
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const made = await faultyRuntime();
  undo.push(made.discard);
  ({ runtime } = made);
  daemon = await Daemon.start({ endpoint: runtime.endpoint });
  undo.push(() => daemon.discard());
}, 60_000);
afterAll(() => tearDown(...undo.reverse()), 60_000);

interface Failed {
  code?: number;
  stdout: string;
  stderr: string;
}
/** Its output, whatever its exit code. */
const run = (...args: string[]): Promise<Failed> =>
  daemon.command('explain', ...args, '--root-dir', daemon.rootDir).catch((error: unknown) => error as Failed);
const ask = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout) as Explanation;
/** Asks until the headline is as it is to be. */
const headline = (what: string, pattern: RegExp, ...args: string[]) =>
  daemon.until(what, async () => {
    const explained = await ask(...args);
    return pattern.test(explained.headline) && explained;
  });

test('a pod that runs is said to, as text and by the name that its manifest gives it', async () => {
  await daemon.put(shellPod('fine', FOREVER));
  await daemon.ready('fine');
  const { stdout } = await run('pod', 'fine');
  expect(stdout).toMatch(/^default\/fine-testnode runs, and nothing is wrong with it\.\n\nWhere it is\n/);
  expect(stdout).toMatch(/\n {2}container main: An instance runs in the sandbox of the pod\. \(running, for /);
  expect(stdout).toMatch(/\nHow it got here\n {2}20\S+Z {2}pod default\/fine-testnode: /);
});

test('an image that cannot be pulled', async () => {
  runtime.faults.add({
    method: 'PullImage',
    match: ({ image }) => image?.image.includes('nowhere') ?? false,
    fail: { code: grpcStatus.NOT_FOUND, message: 'nowhere/x:1: not found' },
  });
  await daemon.put(shellPod('image', FOREVER, {}, { image: 'nowhere/x:1', imagePullPolicy: 'Always' }));
  const explained = await headline('the image is named', /ImagePullBackOff/, 'pod', 'default/image');
  expect(explained.headline).toMatch(
    /^default\/image-testnode is not Running: container main waits with ImagePullBackOff \(.*nowhere\/x:1: not found.*; the back-off before the next pull is over in \d/,
  );
});

test('a crash loop', async () => {
  await daemon.put(shellPod('crash', 'exit 3'));
  await headline(
    'the crash is named',
    /container main ended with code 3 .*the crash back-off is over in \d+ s/,
    'pod',
    'crash',
  );
});

test('a call of the runtime that hangs', async () => {
  const match = ({ config }: { config?: { metadata?: { name: string } } }) => config?.metadata?.name === 'stuck';
  runtime.faults.add({ method: 'CreateContainer', match, hang: true });
  const pod = shellPod('hung', FOREVER);
  await daemon.put({ ...pod, spec: { ...pod.spec, containers: [{ ...pod.spec.containers[0]!, name: 'stuck' }] } });
  await headline(
    'the call is named',
    /this call \(createContainer\) has been under way for \d/,
    'container',
    'hung-testnode/stuck',
  );
  const { waitsFor } = await ask('pod', 'hung');
  expect(waitsFor).toContainEqual(expect.objectContaining({ for: 'call', what: 'createContainer' }));
});

test('a path of a volume that is missing', async () => {
  const volumes = [{ name: 'data', hostPath: { path: '/nowhere/at/all', type: 'Directory' } }];
  await daemon.put(shellPod('volume', FOREVER, { volumes }, { volumeMounts: [{ name: 'data', mountPath: '/data' }] }));
  await headline('the path is named', /volume data could not be mounted: .*\/nowhere\/at\/all/, 'pod', 'volume');
});

test('a container that ignores TERM', async () => {
  await daemon.put(shellPod('deaf', 'trap "" TERM; while :; do sleep 1; done', { terminationGracePeriodSeconds: 20 }));
  await daemon.ready('deaf');
  await daemon.remove('deaf');
  await headline(
    'its grace is told',
    /asked to stop .* its grace of 20 s is over in \d+ s, and then it is killed/,
    'pod',
    'deaf',
  );
});

test('a manifest that is invalid, and a name that is nearly there', async () => {
  await daemon.putText(
    'bad.yaml',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: [{name: c}]}\n',
  );
  await headline('the field is named', /bad is not taken from its manifest: .*bad\.yaml: .*image/, 'pod', 'bad');
  expect(await run('pod', 'fnie')).toMatchObject({ code: 1, stdout: expect.stringContaining('there is default/fine') });
});

test('a runtime that is away', async () => {
  runtime.faults.add({ method: 'Status', fail: { code: grpcStatus.UNAVAILABLE, message: 'going down' } });
  await headline(
    'the runtime is named',
    /runs; the agent holds pods back: the runtime is unhealthy.*going down/,
    'pod',
    'fine',
  );
  const { headline: ofNode } = await ask('node');
  expect(ofNode).toMatch(/^Node testnode: the agent holds pods back: the runtime is unhealthy/);
});

test('what is asked for wrongly is told what is accepted', async () => {
  expect(await run('deployment', 'web')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/accepted are node, pod\s+\S*\s*NAMESPACE\/NAME/),
  });
});
