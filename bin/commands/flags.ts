import { Flags } from '@oclif/core';
import type { Interfaces } from '@oclif/core';
import { flagHelp } from '../config/flag-help.ts';
import { ALL_FLAGS } from '../config/parse-flags.ts';

/** The kubelet's flags for oclif's help and manifest. Parsing is config/parse-flags.ts's, in the kubelet's syntax. */
export function flagsOfRun({ hidden = false }: { hidden?: boolean } = {}): Record<string, Interfaces.Flag<unknown>> {
  const flags: Record<string, Interfaces.Flag<unknown>> = {};
  for (const row of ALL_FLAGS) {
    const settings = {
      description: flagHelp(row),
      hidden,
      ...(row.shorthand ? { char: row.shorthand as 'v' } : {}),
      ...(row.deprecated ? { deprecated: true as const } : {}),
      helpGroup: row.group === 'statelet' ? 'STATELET' : row.deprecated ? 'KUBELET, DEPRECATED' : 'KUBELET',
    };
    flags[row.name] =
      row.type === 'bool' || row.type === 'version'
        ? Flags.boolean(settings)
        : (Flags.string({ ...settings, helpValue: `<${row.type}>` }) as Interfaces.Flag<unknown>);
  }
  return flags;
}
