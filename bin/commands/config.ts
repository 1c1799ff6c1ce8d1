import { Flags } from '@oclif/core';
import { flagsOfRun } from './flags.ts';
import { StateletCommand } from './statelet-command.ts';

const OUTPUTS = ['yaml', 'json', 'table'] as const;

export default class Config extends StateletCommand {
  static override description =
    'Prints the effective configuration: defaults, file, drop-ins and flags merged as `statelet run` would. ' +
    'Takes all flags of `statelet run`.';
  static override examples = [
    '<%= config.bin %> config --config /etc/kubernetes/kubelet.yaml',
    '<%= config.bin %> config --config-dir /etc/kubernetes/kubelet.conf.d --output table',
  ];
  /** So that oclif takes no argument for the name of a sub-command: parseFlags refuses it. */
  static override strict = false;
  static override usage = 'config [--output yaml|json|table] [--origin] [FLAGS OF RUN]';
  static override flags = {
    output: Flags.string({ options: [...OUTPUTS], default: 'yaml', description: 'form of the output' }),
    origin: Flags.boolean({ description: 'also say where each value came from (always in a table)' }),
    ...flagsOfRun({ hidden: true }),
  };

  async run(): Promise<void> {
    const { printConfig } = await import('../config/print-config.ts');
    process.stdout.write(printConfig(await this.kubeletArgv(), (line) => process.stderr.write(`statelet: ${line}\n`)));
  }
}
