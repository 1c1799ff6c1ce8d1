import type { KubeletConfiguration, KubeletFlags } from '../data/kubelet-configuration.types.ts';

export interface RuleInput {
  config: KubeletConfiguration;
  flags: KubeletFlags;
  gate(name: string): boolean;
}

/** Reports a wrong value: JSON path or `--flag`, and what is wrong and accepted. */
export type Fail = (path: string, message: string) => void;

/** Rules of one subject, from the kubelet's validation and start-up checks; pure. */
export type Rule = (input: RuleInput, fail: Fail) => void;
