import Config from './config.ts';
import Ps from './ps.ts';
import Run from './run.ts';

/** Every command, by its name. */
export const COMMANDS = { config: Config, ps: Ps, run: Run };
