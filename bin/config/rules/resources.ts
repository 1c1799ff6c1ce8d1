import { shown } from '../problem.ts';
import { quantityOf } from '../decode.ts';
import { joinPath } from '../schema.ts';
import type { Rule } from './rule.types.ts';

const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** What is kept back from pods: validation.go, cmd/kubelet/app/server.go:parseResourceList, pkg/kubelet/cm. */
export const resources: Rule = (input, fail) => {
  const { config, gate } = input;
  if (config.systemCgroups && !config.cgroupRoot)
    fail('systemCgroups', 'needs cgroupRoot: accepted is none, or a cgroupRoot beside it');
  if (config.systemCgroups === '/') fail('systemCgroups', '"/" is not accepted: accepted is a cgroup below the root');
  for (const field of ['kubeReserved', 'systemReserved'] as const)
    for (const [name, text] of Object.entries(config[field] ?? {})) {
      const path = joinPath(field, name);
      if (!RESERVABLE.includes(name)) fail(path, `cannot be reserved: accepted are ${RESERVABLE.join(', ')}`);
      if ((quantityOf(text) ?? -1n) < 0n)
        fail(path, `${shown(text)} is not accepted: accepted is a quantity such as "500m" or "1Gi", not negative`);
    }
  for (const [name, text] of Object.entries(config.qosReserved ?? {})) {
    const path = joinPath('qosReserved', name);
    if (!gate('QOSReserved')) fail(path, 'needs feature gate QOSReserved');
    else if (name !== 'memory') fail(path, 'cannot be reserved: accepted is memory');
    else if (!/^\d+%$/.test(text) || parseInt(text) > 100)
      fail(path, `${shown(text)} is not accepted: accepted are 0% to 100%`);
  }
  if (config.reservedSystemCPUs) {
    if (config.systemReservedCgroup || config.kubeReservedCgroup)
      fail(
        'reservedSystemCPUs',
        'stands beside systemReservedCgroup or kubeReservedCgroup: accepted is one or the other',
      );
    if (!isCpuSet(config.reservedSystemCPUs))
      fail(
        'reservedSystemCPUs',
        `${shown(config.reservedSystemCPUs)} is not a list of CPUs: accepted is a list such as "0-3,7"`,
      );
  }
  reservedMemory(input, fail);
  enforcement(input, fail);
  const ids = config.userNamespaces?.idsPerPod;
  if (ids !== undefined && (ids < 65536 || ids % 65536 !== 0 || ids > 4294967295))
    fail(
      'userNamespaces.idsPerPod',
      `${ids} is not accepted: accepted are multiples of 65536 from 65536 to 4294901760`,
    );
};

/** Linux CPU list: numbers and ranges with commas between them. */
function isCpuSet(text: string): boolean {
  return text.split(',').every((part) => {
    const [, low, high] = /^(\d+)(?:-(\d+))?$/.exec(part.trim()) ?? [];
    return low !== undefined && (high === undefined || Number(low) <= Number(high));
  });
}

const reservedMemory: Rule = ({ config }, fail) => {
  const seen = new Set<string>();
  config.reservedMemory?.forEach(({ numaNode = 0, limits = {} }, i) => {
    for (const [type, quantity] of Object.entries(limits)) {
      const path = joinPath(`reservedMemory[${i}].limits`, type);
      if (type !== 'memory' && quantityOf(type.replace(/^hugepages-/, '')) === undefined)
        fail(path, 'cannot be reserved: accepted are memory and hugepages-<size>');
      if (quantityOf(quantity) === 0n) fail(path, '0 is not accepted: accepted is a quantity above 0');
      const key = `${numaNode}/${type}`;
      if (seen.has(key)) fail(`reservedMemory[${i}]`, `says ${type} of NUMA node ${numaNode} again: accepted is once`);
      seen.add(key);
    }
  });
};

const ENFORCED = [
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
  'none',
];

const enforcement: Rule = ({ config }, fail) => {
  const path = 'enforceNodeAllocatable';
  const list = config.enforceNodeAllocatable;
  const unknown = list.filter((entry) => !ENFORCED.includes(entry));
  for (const entry of unknown) fail(path, `${shown(entry)} is not accepted: accepted are ${ENFORCED.join(', ')}`);
  for (const entry of new Set(list.filter((e, i) => list.indexOf(e) !== i)))
    fail(path, `says ${entry} twice: accepted is once`);
  if (list.includes('none') && list.length > 1) fail(path, 'has none beside others: accepted is none alone');
  for (const part of ['system-reserved', 'kube-reserved'] as const) {
    const whole = list.includes(part);
    const compressible = list.includes(`${part}-compressible`);
    const cgroup = part === 'system-reserved' ? 'systemReservedCgroup' : 'kubeReservedCgroup';
    if (whole && compressible) fail(path, `has ${part} and ${part}-compressible: accepted is one of them`);
    if ((whole || compressible) && !config[cgroup])
      fail(
        cgroup,
        `is not set, but ${path} has ${whole ? part : `${part}-compressible`}: accepted is the cgroup's name`,
      );
  }
  if (!config.cgroupsPerQOS && list.some((entry) => entry !== 'none' && ENFORCED.includes(entry)))
    fail(path, `[${list.join(', ')}] needs cgroupsPerQOS: accepted is [none] or [] without it`);
};
