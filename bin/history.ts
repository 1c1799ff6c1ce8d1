import { AgentError } from '../machines/agent-error.types.ts';
import type { Transition } from '../services/live/live.types.ts';
import { askAgent } from '../services/server/ask-agent.ts';
import { controlSocketPath } from '../services/server/control-socket.ts';

const ACCEPTED =
  'accepted are no argument, node, pod NAMESPACE/NAME, container NAMESPACE/NAME/CONTAINER (NAMESPACE/ may be left out: default)';

/** The lasting name of what the arguments mean; undefined: all. */
export function actorOf(argv: readonly string[]): { ok: true; name?: string } | { ok: false; message: string } {
  const [kind, name = '', ...more] = argv;
  if (kind === undefined) return { ok: true };
  const parts = name.split('/');
  const least = { pod: 1, container: 2 }[kind];
  const isNamed = least !== undefined && more.length === 0 && parts.every(Boolean) && parts.length - least in [0, 1];
  if (isNamed) return { ok: true, name: `${kind} ${parts.length === least ? 'default/' : ''}${name}` };
  if (kind === 'node' && argv.length === 1) return { ok: true, name: 'node' };
  return { ok: false, message: `history: "${argv.join(' ')}" is not accepted: ${ACCEPTED}` };
}

/** `statelet history`. @throws AgentError where no agent answers, or it knows nothing of what is asked for */
export async function printHistory(options: {
  rootDir: string;
  actor: string | undefined;
  json: boolean;
  write: (text: string) => void;
}): Promise<void> {
  const { rootDir, actor, json, write } = options;
  const query = actor === undefined ? '' : `?actor=${encodeURIComponent(actor)}`;
  const transitions = (await askAgent(controlSocketPath(rootDir), `/history${query}`)) as Transition[];
  if (transitions.length === 0)
    throw new AgentError({
      ...{ op: 'history', reason: 'NotFound', transient: true },
      message: `the agent knows nothing of ${actor ?? 'any actor'}: it never had it, or has forgotten it; statelet explain may say why`,
    });
  write(json ? `${JSON.stringify(transitions, null, 2)}\n` : drawHistory(transitions));
}

/** The transitions as text, a line each: when, who, from where to where, for what. */
export function drawHistory(transitions: readonly Transition[]): string {
  const rows = transitions.map(({ at, actor, from, to, cause: { by, detail } }) => [
    new Date(at).toISOString(),
    actor,
    from === undefined ? to : `${from} → ${to}`,
    detail === undefined ? by : `${by}: ${detail}`,
  ]);
  const table = [['TIME', 'ACTOR', 'STATE', 'BECAUSE'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) => `${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}\n`).join('');
}
