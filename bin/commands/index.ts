import Config from './config.ts';

/** Every command, by its name. */
export const COMMANDS = { config: Config };
