import { flagsOfRun } from './flags.ts';
import { StateletCommand } from './statelet-command.ts';

export default class Run extends StateletCommand {
  static override description =
    'Runs the agent. Takes the flags of the kubelet in its syntax: --flag=value, --flag value, --bool, --bool=false; ' +
    'a flag wins over the files.';
  static override examples = [
    '<%= config.bin %> run --config /etc/kubernetes/kubelet.yaml',
    '<%= config.bin %> run --pod-manifest-path /etc/kubernetes/manifests --fail-cgroupv1=false -v 4',
    '<%= config.bin %> run --quickstart',
  ];
  /** So that oclif takes no argument for the name of a sub-command: parseFlags refuses it. */
  static override strict = false;
  static override usage = 'run [FLAGS]';
  static override flags = flagsOfRun();

  async run(): Promise<void> {
    const [{ loadConfig }, { hostProblems, readHostView }, { ConfigError }] = await Promise.all([
      import('../config/load-config.ts'),
      import('../config/host-rules.ts'),
      import('../config/problem.ts'),
    ]);
    const argv = await this.kubeletArgv();
    if (argv.some((word) => /^--version(=true)?$/.test(word))) return void this.log(this.config.userAgent);
    const loaded = loadConfig({ argv });
    const problems = hostProblems(loaded, readHostView());
    if (problems.length) throw new ConfigError(problems);
    const { runAgent } = await import('../compose.ts');
    await runAgent(loaded);
    // Calls that a hung runtime or server never answers would keep the process.
    process.exit(0);
  }
}
