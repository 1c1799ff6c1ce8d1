#!/usr/bin/env node
// Plain JavaScript that old releases of Node understand: it finds a Node that is new enough and starts the bundle.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import * as nodeModule from 'node:module';
import process from 'node:process';
import { setTimeout } from 'node:timers';
import { fileURLToPath, URL } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const LEAST = 24;
const STARTED_MS = 5000;
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const argv = process.argv.slice(2);

if (Number(process.versions.node.split('.')[0]) < LEAST) runOnNewerNode();
else await start();

async function start() {
  if (process.channel) {
    process.channel.unref();
    process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  }
  // While it starts, speed counts; after that a small nursery and an early collection keep the agent small.
  setTimeout(() => {
    setFlagsFromString('--max-semi-space-size=8');
    setFlagsFromString('--optimize-for-size');
    // Kept even where the agent is killed.
    nodeModule.flushCompileCache();
  }, STARTED_MS).unref();
  const bundle = at('../dist/statelet.js');
  const bundled = existsSync(bundle) && !process.env.STATELET_SOURCES;
  if (bundled) {
    // Beside the bundle, not in the shared temporary folder: what is compiled there is run as it is.
    nodeModule.enableCompileCache(at('../dist/.compile-cache'));
    const { main } = await import('../dist/statelet.js');
    await main(argv, './dist/statelet.js');
  } else {
    const { main } = await import('./main.ts');
    await main(argv, './bin/commands/index.ts');
  }
}

/** The `node` package brings one along where the system's is older. */
function runOnNewerNode() {
  const newer = at('../node_modules/.bin/node');
  if (!existsSync(newer) || realpathSync(newer) === realpathSync(process.execPath)) {
    process.stderr.write(
      `statelet: Node ${process.versions.node} is too old: accepted are ${LEAST} and newer (npm ci brings one along)\n`,
    );
    process.exitCode = 1;
    return;
  }
  // The channel tells the agent when this process is gone, whatever ended it.
  const child = spawn(newer, [at('./run.js'), ...argv], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`statelet: ${newer} cannot be run: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exitCode = code ?? 1;
  });
}
