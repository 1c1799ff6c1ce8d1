/**
 * What the live view costs: `node bench/live.ts`. A whole simulated agent with 100 pods, of which a tenth crash again and
 * again; time that is spent in the view, per transition of an actor, without and with a listener, and for one whole answer.
 */
import { createLiveSystem } from '../services/live/live-system.ts';
import { World } from '../test/support/world/world.ts';
import { median } from './pods.ts';

const PODS = 100;
const MINUTES = 10;

function pod(name: string, command: readonly string[]): object {
  const env = Array.from({ length: 20 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value number ${i} of ${name}` }));
  const containers = [{ name: 'app', image: 'present:1', imagePullPolicy: 'IfNotPresent', command, env }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers } };
}

async function run(
  listens: boolean,
): Promise<{ perTransition: number; mean: number; transitions: number; live: ReturnType<typeof createLiveSystem> }> {
  const world = new World(1);
  world.runtime.images.add('present:1');
  const live = createLiveSystem({ now: () => world.clock.now() });
  let heard = 0;
  if (listens) live.subscribe({ changed: () => (heard += 1) });
  for (let i = 0; i < PODS; i += 1) {
    const command = i % 10 === 0 ? ['exit', '1', '1000'] : ['run'];
    world.put(`/manifests/${i}.yaml`, pod(`p${i}`, command));
  }
  const times: number[] = [];
  let spent = 0;
  world.start((event) => {
    const began = performance.now();
    live.inspect(event);
    spent += performance.now() - began;
    if (event.type !== '@xstate.snapshot') return;
    times.push(spent * 1000);
    spent = 0;
  });
  await world.clock.advance(MINUTES * 60_000);
  const transitions = times.length;
  const mean = times.reduce((sum, time) => sum + time) / transitions;
  return { perTransition: median(times), mean, transitions, live };
}

/** Median of some runs, ms. */
function timed(work: () => unknown): number {
  const times = Array.from({ length: 15 }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  return median(times);
}

await run(false);
const without = await run(false);
const listened = await run(true);
const { live } = without;
const one = live.actors().find(({ machine }) => machine === 'pod')?.sessionId ?? '';
const row = (what: string, value: number, unit: string) =>
  console.log(`${what.padEnd(44)} ${value.toFixed(2)} ${unit}`);
console.log(`${PODS} pods, ${without.transitions} transitions in ${MINUTES} simulated minutes`);
row('a transition, nobody subscribes, median', without.perTransition, 'µs');
row('a transition, nobody subscribes, mean', without.mean, 'µs');
row('a transition, one listener, median', listened.perTransition, 'µs');
row('a transition, one listener, mean', listened.mean, 'µs');
row(
  `all ${live.actors().length} actors`,
  timed(() => live.actors()),
  'ms',
);
row(
  'context of a pod',
  timed(() => live.context(one)),
  'ms',
);
row(
  `whole history (${live.history().length} steps)`,
  timed(() => live.history()),
  'ms',
);
