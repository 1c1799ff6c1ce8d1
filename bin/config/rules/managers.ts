import { quantityOf } from '../decode.ts';
import { shown } from '../problem.ts';
import { joinPath } from '../schema.ts';
import type { Rule } from './rule.types.ts';

const CPU_OPTIONS: Record<string, string | undefined> = {
  'full-pcpus-only': undefined,
  'distribute-cpus-across-numa': 'CPUManagerPolicyBetaOptions',
  'align-by-socket': 'CPUManagerPolicyAlphaOptions',
  'distribute-cpus-across-cores': 'CPUManagerPolicyAlphaOptions',
  'strict-cpu-reservation': undefined,
  'prefer-align-cpus-by-uncorecache': undefined,
};
const EXCLUSIVE = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

/** CPU, memory and topology managers: pkg/kubelet/cm/cpumanager/policy_options.go and topologymanager/policy_options.go. */
export const managers: Rule = (input, fail) => {
  const { config, gate } = input;
  cpuOptions(input, fail);
  if (config.cpuManagerPolicy === 'static' && !config.reservedSystemCPUs && reservedCpu(input) === 0n)
    fail(
      'cpuManagerPolicy',
      'static needs reserved CPU: accepted is more than 0 in kubeReserved.cpu or systemReserved.cpu, or reservedSystemCPUs',
    );
  for (const [name, text] of Object.entries(config.topologyManagerPolicyOptions ?? {})) {
    const path = joinPath('topologyManagerPolicyOptions', name);
    if (!gate('TopologyManagerPolicyOptions')) fail(path, 'needs feature gate TopologyManagerPolicyOptions');
    else if (name === 'prefer-closest-numa-nodes') {
      if (!isBool(text)) fail(path, `${shown(text)} is not accepted: accepted are "true" and "false"`);
    } else if (name !== 'max-allowable-numa-nodes')
      fail(path, 'is no option: accepted are prefer-closest-numa-nodes and max-allowable-numa-nodes');
    else if (!/^\d+$/.test(text) || Number(text) < 8)
      fail(path, `${shown(text)} is not accepted: accepted are whole numbers from 8`);
  }
};

const cpuOptions: Rule = ({ config, gate }, fail) => {
  const options = Object.entries(config.cpuManagerPolicyOptions ?? {});
  if (options.length && config.cpuManagerPolicy === 'none')
    fail('cpuManagerPolicyOptions', 'needs cpuManagerPolicy static: accepted is none with policy none');
  if (config.cpuManagerPolicy !== 'static') return;
  const on = new Set<string>();
  for (const [name, text] of options) {
    const path = joinPath('cpuManagerPolicyOptions', name);
    const needs = CPU_OPTIONS[name];
    if (!Object.hasOwn(CPU_OPTIONS, name))
      fail(path, `is no option: accepted are ${Object.keys(CPU_OPTIONS).join(', ')}`);
    else if (!isBool(text)) fail(path, `${shown(text)} is not accepted: accepted are "true" and "false"`);
    else if (needs && !gate(needs)) fail(path, `needs feature gate ${needs}`);
    if (/^(1|t|true)$/i.test(text)) on.add(name);
  }
  for (const [one, other] of EXCLUSIVE)
    if (on.has(one) && on.has(other))
      fail('cpuManagerPolicyOptions', `has ${one} and ${other}: accepted is one of them`);
  if (on.has('align-by-socket') && config.topologyManagerPolicy === 'single-numa-node')
    fail('cpuManagerPolicyOptions', 'has align-by-socket, which topologyManagerPolicy single-numa-node rules out');
};

function isBool(text: string): boolean {
  return /^(1|0|t|f|T|F|true|false|TRUE|FALSE|True|False)$/.test(text);
}

const reservedCpu = ({ config }: Parameters<Rule>[0]) =>
  (quantityOf(config.kubeReserved?.cpu ?? '0') ?? 0n) + (quantityOf(config.systemReserved?.cpu ?? '0') ?? 0n);
