import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { machines } from '../../bin/charts.ts';
import { chartsOf } from '../../services/charts/chart-of.ts';
import { describeInBrowser, startBrowser } from '../support/browser.ts';
import { Daemon } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { FOREVER, shell, shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';
import { manyPods } from './many-pods.ts';

/** Longest wait for what the page is to show, ms: the machine may be busy with other tests. */
const PATIENCE = 25_000;
/** A test waits for several things. */
jest.setTimeout(4 * PATIENCE);
const SECRET = 'correct horse battery staple';

describeInBrowser('the inspector page of a running agent', () => {
  let runtime: EmbeddedProcess;
  let daemon: Daemon;
  let browser: Browser;
  let page: Page;
  let url: string;
  let complaints: string[];

  beforeAll(async () => {
    runtime = await EmbeddedProcess.start();
    daemon = await Daemon.start({ endpoint: runtime.endpoint, flags: [`--inspect=${await freePort()}`] });
    await daemon.put(
      shellPod('web', FOREVER, { containers: [shell(FOREVER, { env: [{ name: 'PASSWORD', value: SECRET }] })] }),
    );
    await daemon.put({ ...shellPod('crasher', 'exit 3'), metadata: { name: 'crasher', namespace: 'shop' } });
    await daemon.ready('web');
    url = await daemon.until('its address is kept', async () =>
      (await readFile(join(daemon.rootDir, 'statelet/inspect.url'), 'utf8')).trim(),
    );
    browser = await startBrowser();
  }, 120_000);

  afterAll(
    () =>
      tearDown(
        async () => browser?.close(),
        async () => daemon?.discard(),
        async () => runtime?.discard(),
      ),
    60_000,
  );

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1366, height: 768 } });
    page.setDefaultTimeout(PATIENCE);
    complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on(
      'request',
      (request) => new URL(request.url()).host === new URL(url).host || complaints.push(request.url()),
    );
  });

  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });

  const open = (hash = '') => page.goto(url + hash);
  // What is about a pod without being it, such as a look at it, has its machine before the pod's name.
  const row = (label: string) =>
    page.locator('.row.actor', { has: page.locator('.label', { hasText: new RegExp(`^${label}`) }) });
  const lit = (state: string) => page.locator(`.picture .state.active[data-state="${state}"]`);
  const title = (text: string) => page.locator('h1', { hasText: text }).waitFor();

  test('lists pods with their containers, and the machines of the agent', async () => {
    await open();
    await row('default/web').waitFor();
    await row('shop/crasher').waitFor();
    await row('main').first().waitFor();
    for (const machine of ['syncloop', 'pleg', 'runtimeHealth', 'podSource', 'housekeeping'])
      await row(machine).waitFor();
    expect(await page.locator('.counts').innerText()).toMatch(/2\s*pods\s*2\s*containers/);
    await page.locator('.connection.open').waitFor();
  });

  test('a link leads to a pod: its chart is drawn, its state is lit and described, its family is a link away', async () => {
    await open('#/pod/default/web-testnode');
    await lit('syncing.active').waitFor();
    await lit('syncing').waitFor();
    expect(await page.locator('.picture .state.active').count()).toBe(2);
    expect(await page.locator('.sentence').innerText()).toBe(
      chartsOf(machines)['pod']?.states.find((s) => s.path === 'syncing.active')?.description,
    );
    await page.locator('.family a', { hasText: 'default/web-testnode/main' }).click();
    await lit('running').waitFor();
    expect(new URL(page.url()).hash).toBe('#/container/default/web-testnode/main');
    await page.locator('.family a', { hasText: 'default/web-testnode' }).first().click();
    await title('default/web-testnode');
  });

  test('a container that crashes says so: colour, words, timer, the way it took, and who asked', async () => {
    await open('#/container/shop/crasher-testnode/main');
    await lit('crashLoopBackOff').waitFor();
    await page.locator('.explained .headline', { hasText: /ended with code 3.*CrashLoopBackOff \(back-off/ }).waitFor();
    await page.locator('.explained li', { hasText: 'the crash back-off is over in' }).first().waitFor();
    await page.locator('.fact', { hasText: 'crashBackoff in' }).waitFor();
    await page.locator('.edge.walked[data-from="deciding"][data-to="crashLoopBackOff"]').waitFor({ state: 'attached' });
    await page.locator('.log li', { hasText: 'ended with code 3' }).first().waitFor();
    await page.locator('.dot.failing').first().waitFor();
  });

  test('the context is a tree without secrets', async () => {
    await open('#/pod/default/web-testnode');
    await page.getByRole('tab', { name: 'Context' }).click();
    const into = (name: string, nth: number) =>
      page
        .locator('.json button', { hasText: new RegExp(`^▸?${name}\\b`) })
        .nth(nth)
        .click();
    // The context has containers and an env of its own.
    for (const name of ['pod', 'spec', 'containers', '0']) await into(name, 0);
    await into('env', 1);
    await into('0', 1);
    await page.locator('.json .leaf', { hasText: 'value' }).locator('.redacted').waitFor();
    expect(await page.content()).not.toContain(SECRET);
  });

  test('search and filters leave what matches and the way to it', async () => {
    await open();
    await row('shop/crasher').waitFor();
    await page.getByLabel('Namespace').selectOption('shop');
    await row('default/web').waitFor({ state: 'detached' });
    await page.getByLabel('Namespace').selectOption('');
    await page.getByLabel('Search').fill('web');
    await row('shop/crasher').waitFor({ state: 'detached' });
    await page.getByLabel('Search').fill('');
    await row('shop/crasher').waitFor();
    await page.getByLabel('Search').fill('nothing like this');
    await page.getByText('Nothing matches.').waitFor();
  });

  test('keys lead through all of it', async () => {
    await open('#/pod/default/web-testnode');
    await title('default/web-testnode');
    await page.keyboard.press('j');
    await title('default/web-testnode/main');
    await page.keyboard.press('k');
    await title('default/web-testnode');
    await page.keyboard.press('Enter');
    await page.locator('.row.chosen[aria-expanded="false"]').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.locator('.row.chosen[aria-expanded="true"]').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('crasher');
    await page.keyboard.press('Enter');
    await title('shop/crasher-testnode');
    await page.keyboard.press('Escape');
    await row('default/web').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('follows what happens: a pod comes and goes', async () => {
    await open('#/pod/default/later-testnode');
    await page.getByText('Nothing is there now by the name').waitFor();
    await daemon.put(shellPod('later', FOREVER));
    await lit('syncing.active').waitFor();
    await daemon.remove('later');
    await row('default/later').waitFor({ state: 'detached' });
  });

  test('lays out in the browser what was not drawn before', async () => {
    await page.route('**/pod.svg', (route) =>
      route.fulfill({ status: 200, contentType: 'image/svg+xml', body: '<svg/>' }),
    );
    await open('#/pod/default/web-testnode');
    await lit('syncing.active').waitFor({ timeout: 60_000 });
  });

  test('says that the agent went away, and that it came back', async () => {
    await open('#/pod/default/web-testnode');
    await lit('syncing.active').waitFor();
    await daemon.stop();
    await page.getByText('the agent went away; reconnecting…').waitFor();
    await daemon.start();
    await page.getByText('reconnected: the agent was restarted').waitFor();
    await lit('syncing.active').waitFor();
    await page.locator('.log', { hasText: 'an earlier actor of this name' }).waitFor();
    // Tries while nobody was there.
    complaints = complaints.filter((text) => !/WebSocket connection|ERR_CONNECTION_REFUSED/.test(text));
  });

  test('500 pods: only what is seen is in the document, and all of it is in reach', async () => {
    const charts = chartsOf(machines);
    await page.routeWebSocket('**/ws?**', (socket) => {
      for (const message of manyPods(500, charts)) socket.send(JSON.stringify(message));
    });
    await open('#/pod/many/pod-000');
    await row('many/pod-000').waitFor();
    expect(await page.locator('.counts').innerText()).toMatch(/500\s*pods\s*1000\s*containers/);
    expect(await page.locator('.row').count()).toBeLessThan(80);
    await page.locator('.rows').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await row('syncloop').waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(80);
    await page.getByLabel('Search').fill('pod-377');
    await row('many/pod-377').waitFor();
    expect(await page.locator('.row').count()).toBe(4);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
