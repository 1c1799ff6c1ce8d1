#!/usr/bin/env node
import { parseArgs } from 'node:util';

import { pino } from 'pino';

import { startEmbeddedRuntime } from './index.ts';

const USAGE = `usage: node services/cri/embedded/main.ts --socket PATH --state DIRECTORY [--absent IMAGE]… [--kill-on-exit]

Serves CRI v1 on a unix socket, running containers as plain processes. SIGTERM and SIGINT end it; containers are left
running for the next server on the same state directory unless --kill-on-exit is given.
  --absent IMAGE   a reference that cannot be pulled
`;

const { values } = parseArgs({
  options: {
    socket: { type: 'string' },
    state: { type: 'string' },
    absent: { type: 'string', multiple: true },
    'kill-on-exit': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
} else if (values.socket === undefined || values.state === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const logger = pino({ name: 'embedded-runtime' }, pino.destination({ fd: 2, sync: true }));
  const runtime = await startEmbeddedRuntime({
    socketPath: values.socket,
    stateDir: values.state,
    logger,
    images: { absent: values.absent ?? [] },
  });
  logger.info({ endpoint: runtime.endpoint }, 'serving');
  const containers = values['kill-on-exit'] ? 'kill' : 'leave';
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void runtime.stop({ containers }));
}
