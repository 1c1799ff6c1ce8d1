import { eviction } from './eviction.ts';
import { gates } from './gates.ts';
import { images } from './images.ts';
import { logging } from './logging.ts';
import { managers } from './managers.ts';
import { node } from './node.ts';
import { ranges } from './ranges.ts';
import { resources } from './resources.ts';
import type { Rule } from './rule.types.ts';
import { server } from './server.ts';
import { times } from './times.ts';

/** Everything that can be judged without looking at the host. */
export const RULES: readonly Rule[] = [
  gates,
  ranges,
  times,
  images,
  eviction,
  resources,
  managers,
  logging,
  server,
  node,
];
