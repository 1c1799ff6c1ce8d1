import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { StateletCommand } from './statelet-command.ts';

export default class History extends StateletCommand {
  static override description =
    'Tells what the actors of the agent that runs on this host did last, and who asked: of all, of a pod and all that is ' +
    'about it, of one container, or of the node.';
  static override examples = [
    '<%= config.bin %> history',
    '<%= config.bin %> history pod default/web',
    '<%= config.bin %> history container default/web/main --json',
    '<%= config.bin %> history node',
  ];
  /** So that oclif takes no argument for the name of a sub-command. */
  static override strict = false;
  static override usage = 'history [pod NAMESPACE/NAME | container NAMESPACE/NAME/CONTAINER | node] [FLAGS]';
  static override flags = {
    'root-dir': Flags.string({
      default: '/var/lib/kubelet',
      description: "the agent's --root-dir; its socket is statelet/statelet.sock below it",
    }),
    quickstart: Flags.boolean({ description: 'ask the agent that was started with --quickstart' }),
    json: Flags.boolean({ description: 'print a JSON list' }),
  };

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(History);
    const { actorOf, printHistory } = await import('../history.ts');
    const actor = actorOf(argv.map(String));
    if (!actor.ok) this.error(actor.message, { exit: 2 });
    const { quickstartLayer } = await import('../config/quickstart.ts');
    await printHistory({
      rootDir: flags.quickstart ? quickstartLayer(process.env).flags.rootDir : resolve(flags['root-dir']),
      actor: actor.name,
      json: flags.json,
      write: (text) => process.stdout.write(text),
    });
  }
}
