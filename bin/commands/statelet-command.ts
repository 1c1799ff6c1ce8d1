import { Command } from '@oclif/core';

/** A failure that is the user's to mend: told in plain lines, not wrapped, without a stack; exit code 1. */
export abstract class StateletCommand extends Command {
  /** The arguments as they are, for config/parse-flags.ts: oclif takes no `--bool=false`. */
  protected async kubeletArgv(): Promise<readonly string[]> {
    const argv = [...this.argv];
    await this.parse({ strict: false }, []);
    return argv;
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<void> {
    if (!['ConfigError', 'AgentError'].includes(error.name)) throw error;
    for (const line of error.message.split('\n')) process.stderr.write(`statelet: ${line}\n`);
    process.exitCode = 1;
  }
}
