import { fileURLToPath } from 'node:url';
import { execute, settings } from '@oclif/core';
import pjson from '../package.json' with { type: 'json' };

/**
 * Runs a command line.
 * @param argv without node and script
 * @param commands the file that exports COMMANDS, relative to the package: the bundle or the source
 */
export async function main(argv: string[], commands: string): Promise<void> {
  settings.enableAutoTranspile = false;
  const root = fileURLToPath(new URL('../', import.meta.url));
  const oclif = {
    bin: 'statelet',
    dirname: 'statelet',
    topicSeparator: ' ',
    commands: { strategy: 'explicit', target: commands, identifier: 'COMMANDS' },
  };
  await execute({ args: argv, loadOptions: { root, pjson: { ...pjson, oclif } as never } });
}
