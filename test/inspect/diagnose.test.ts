import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { ApiServer } from '../support/apiserver/server.ts';
import { describeInBrowser, startBrowser } from '../support/browser.ts';
import { Daemon, NODE_NAME } from '../support/daemon.ts';
import { faultyRuntime } from '../support/node.ts';
import { shell, shellPod } from '../support/pods.ts';
import { ROOT } from '../support/import-graph.ts';
import { tearDown } from '../support/tear-down.ts';

/** Longest wait for what is to be said, ms. */
const PATIENCE = 40_000;
jest.setTimeout(3 * PATIENCE);
/** Folder that is given what explain says and pictures of the page, for docs/operations/diagnose.md. */
const PICTURES = process.env['STATELET_TEST_PICTURES'];

/** What names the cause of each fault. */
const CAUSES = {
  'image-missing': /registry\.invalid\/shop\/web:2\.1/,
  'manifest-invalid': /billing\.yaml.*image/,
  'crash-loop': /ended with code 3.*CrashLoopBackOff/,
  'ignores-term': /asked to stop.*has not ended/,
  'call-hung': /createContainer\) has been under way for \d+ s, and is not answered/,
  'volume-missing': /volume data could not be mounted.*\/srv\/shop-data/,
  'api-away': /the API server's pods.*ECONNREFUSED/,
  'runtime-away': /the runtime is unhealthy.*is not available/,
} as const;

test.each(Object.entries(CAUSES))('docs/operations/diagnose.md has %s, as explain says it', (name, cause) => {
  const page = readFileSync(join(ROOT, 'docs/operations/diagnose.md'), 'utf8');
  expect(page).toContain(`(../images/diagnose-${name}.png)`);
  expect(page.split('\n').filter((line) => cause.test(line))).toHaveLength(1);
});

/** The faults of docs/operations/diagnose.md, made for real: what is asked, and what names the cause. */
describeInBrowser('the cause of a fault is named by explain and by the page', () => {
  let runtime: Awaited<ReturnType<typeof faultyRuntime>>;
  let api: ApiServer;
  let apiFolder: string;
  let daemon: Daemon;
  let browser: Browser;
  let page: Page;
  let url: string;

  beforeAll(async () => {
    runtime = await faultyRuntime();
    apiFolder = await mkdtemp(join(tmpdir(), 'statelet-diagnose-'));
    api = await ApiServer.start({ directory: apiFolder });
    daemon = await Daemon.start({
      endpoint: runtime.runtime.endpoint,
      flags: [`--inspect=${await freePort()}`, `--kubeconfig=${await api.node(NODE_NAME)}`],
    });
    url = await daemon.until('its address is kept', async () =>
      (await readFile(join(daemon.rootDir, 'statelet/inspect.url'), 'utf8')).trim(),
    );
    browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    page.setDefaultTimeout(PATIENCE);
  }, 120_000);

  afterAll(
    () =>
      tearDown(
        async () => browser?.close(),
        async () => daemon?.discard(),
        async () => runtime?.discard(),
        async () => api?.close(),
        async () => apiFolder && rm(apiFolder, { recursive: true, force: true }),
      ),
    60_000,
  );

  /** What `statelet explain` says, once it names the cause; exit code 1 where the pod is not there. */
  const explained = async (target: string, cause: RegExp): Promise<string> => {
    let said = '';
    await daemon.until(
      `explain ${target} says ${cause} and not ${said}`,
      async () => {
        const args = ['explain', ...target.split(' '), `--root-dir=${daemon.rootDir}`];
        said = await daemon.command(...args).then(
          ({ stdout }) => stdout,
          ({ stdout }) => String(stdout),
        );
        return cause.test(headlineOf(said)) || Promise.reject(new Error(said));
      },
      PATIENCE,
    );
    return said;
  };

  /** The page at one of its addresses, or else at the row that is red, names the cause at the top of its right column. */
  const shown = async (hash: string, cause: RegExp): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(url + hash);
    // Of the node the agent's own row tells, by its colour too.
    if (!hash) await page.locator('.row.actor', { hasText: 'syncloop', has: page.locator('.dot.failing') }).click();
    await page.locator('.explained .headline', { hasText: cause }).waitFor();
  };

  /** Once what is next to it has been drawn. */
  const keep = async (name: string, text: string) => {
    if (PICTURES === undefined) return;
    await mkdir(PICTURES, { recursive: true });
    await writeFile(join(PICTURES, `${name}.txt`), text);
    await page.locator('.picture .state.active').first().waitFor();
    await page.screenshot({ path: join(PICTURES, `diagnose-${name}.png`) });
  };

  /** Makes a fault, and asks both. */
  const asked = async (name: keyof typeof CAUSES, target: string, hash: string) => {
    const cause = CAUSES[name];
    const text = await explained(target, cause);
    await shown(hash, cause);
    await keep(name, text);
    expect(headlineOf(text)).toMatch(cause);
  };
  const pod = (name: string) => [`pod default/${name}`, `#/pod/default/${name}-${NODE_NAME}`] as const;

  test('an image that is not there', async () => {
    await daemon.put(shellPod('web', '', {}, { image: 'registry.invalid/shop/web:2.1' }));
    await asked('image-missing', ...pod('web'));
    await daemon.remove('web');
    await daemon.gone('web');
  });

  test('a manifest that is not valid', async () => {
    await daemon.putText(
      'billing.yaml',
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: billing\nspec:\n  containers:\n  - name: main\n    imagee: docker.io/library/busybox:1.35\n',
    );
    await asked('manifest-invalid', 'pod default/billing', '');
    await daemon.remove('billing');
  });

  test('a container that crashes again and again', async () => {
    await daemon.put(shellPod('worker', 'echo no queue; exit 3'));
    await asked('crash-loop', ...pod('worker'));
    await daemon.remove('worker');
    await daemon.gone('worker');
  });

  test('a container that ignores TERM', async () => {
    const spec = { terminationGracePeriodSeconds: 60 };
    await daemon.put(shellPod('stubborn', 'trap "" TERM; while :; do sleep 1; done', spec));
    await daemon.ready('stubborn');
    await daemon.remove('stubborn');
    await asked('ignores-term', ...pod('stubborn'));
  });

  test('a call that the runtime does not answer', async () => {
    const { faults } = runtime.runtime;
    const isHung = ({ sandboxConfig }: { sandboxConfig?: { metadata?: { name: string } } }) =>
      sandboxConfig?.metadata?.name.startsWith('hung') === true;
    faults.add({ method: 'CreateContainer', match: isHung, hang: true });
    await daemon.put(shellPod('hung', 'sleep 3600'));
    // In the picture it has been away for so long that the page calls it stuck.
    if (PICTURES !== undefined) await sleep(33_000);
    await asked('call-hung', ...pod('hung'));
    faults.clear();
    await daemon.ready('hung');
    await daemon.remove('hung');
  });

  test('a volume whose path is not there', async () => {
    await daemon.put(
      shellPod('shop', '', {
        volumes: [{ name: 'data', hostPath: { path: '/srv/shop-data', type: 'Directory' } }],
        containers: [shell('sleep 3600', { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
      }),
    );
    await asked('volume-missing', ...pod('shop'));
    await daemon.remove('shop');
    await daemon.gone('shop');
  });

  test('an API server that is away', async () => {
    await api.down();
    await asked('api-away', 'node', '');
    await api.up();
  });

  test('a runtime that is away', async () => {
    await daemon.put(shellPod('calm', 'sleep 3600'));
    await daemon.ready('calm');
    await runtime.runtime.stop({ containers: 'kill' });
    await asked('runtime-away', 'node', '');
  });
});

const headlineOf = (text: string) => text.split('\n')[0] ?? '';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
