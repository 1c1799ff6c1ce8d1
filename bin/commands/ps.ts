import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { StateletCommand } from './statelet-command.ts';

export default class Ps extends StateletCommand {
  static override description =
    'Draws the live tree of actors of the agent that runs on this host, with their states and since when.';
  static override examples = ['<%= config.bin %> ps', '<%= config.bin %> ps --watch', '<%= config.bin %> ps --json'];
  /** So that oclif takes no argument for the name of a sub-command. */
  static override strict = false;
  static override flags = {
    'root-dir': Flags.string({
      default: '/var/lib/kubelet',
      description: "the agent's --root-dir; its socket is statelet/statelet.sock below it",
    }),
    quickstart: Flags.boolean({ description: 'ask the agent that was started with --quickstart' }),
    json: Flags.boolean({ description: 'print the tree as JSON' }),
    watch: Flags.boolean({ char: 'w', description: 'draw it again each second' }),
  };

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Ps);
    if (argv.length) this.error(`ps takes no arguments, but was given ${argv.join(' ')}`, { exit: 2 });
    const { printActors } = await import('../ps.ts');
    const { quickstartLayer } = await import('../config/quickstart.ts');
    await printActors({
      rootDir: flags.quickstart ? quickstartLayer(process.env).flags.rootDir : resolve(flags['root-dir']),
      json: flags.json,
      watch: flags.watch,
      write: (text) => process.stdout.write(text),
    });
  }
}
