import Config from './config.ts';
import Explain from './explain.ts';
import History from './history.ts';
import Ps from './ps.ts';
import Run from './run.ts';

/** Every command, by its name. */
export const COMMANDS = { config: Config, explain: Explain, history: History, ps: Ps, run: Run };
