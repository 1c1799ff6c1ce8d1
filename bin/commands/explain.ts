import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { StateletCommand } from './statelet-command.ts';

export default class Explain extends StateletCommand {
  static override description =
    'Says why a pod, a container or the node is where it is: the cause first, then where it is, what it waits for, what ' +
    'happens next, why it is not elsewhere, and how it got here. The agent that runs on this host answers.';
  static override examples = [
    '<%= config.bin %> explain pod default/web',
    '<%= config.bin %> explain container default/web/main',
    '<%= config.bin %> explain node --json',
  ];
  /** So that oclif takes no argument for the name of a sub-command. */
  static override strict = false;
  static override usage = 'explain pod NAMESPACE/NAME | container NAMESPACE/NAME/CONTAINER | node [FLAGS]';
  static override flags = {
    'root-dir': Flags.string({
      default: '/var/lib/kubelet',
      description: "the agent's --root-dir; its socket is statelet/statelet.sock below it",
    }),
    quickstart: Flags.boolean({ description: 'ask the agent that was started with --quickstart' }),
    json: Flags.boolean({ description: 'print the explanation as JSON' }),
  };

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Explain);
    const { askedFor, printExplanation } = await import('../explain.ts');
    const asked = askedFor(argv.map(String));
    if (!asked.ok) this.error(asked.message, { exit: 2 });
    const { quickstartLayer } = await import('../config/quickstart.ts');
    const found = await printExplanation({
      rootDir: flags.quickstart ? quickstartLayer(process.env).flags.rootDir : resolve(flags['root-dir']),
      target: asked.target,
      json: flags.json,
      write: (text) => process.stdout.write(text),
    });
    if (!found) process.exitCode = 1;
  }
}
