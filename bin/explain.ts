import type { Explanation, Target } from '../services/explain/explain.types.ts';
import { renderExplanation } from '../services/explain/render.ts';
import { queryOf, targetOf } from '../services/explain/target.ts';
import { askAgent } from '../services/server/ask-agent.ts';
import { controlSocketPath } from '../services/server/control-socket.ts';

const ACCEPTED =
  'accepted are node, pod NAMESPACE/NAME, container NAMESPACE/NAME/CONTAINER (NAMESPACE/ may be left out: default)';

/** What the arguments mean. */
export function askedFor(argv: readonly string[]): { ok: true; target: Target } | { ok: false; message: string } {
  const [kind = '', name = '', ...more] = argv;
  const least = { pod: 1, container: 2 }[kind];
  const full = name.split('/').length === least ? `default/${name}` : name;
  const target = targetOf(new URLSearchParams(kind === 'node' ? 'node' : { [kind]: full }));
  const isWhole = more.length === 0 && (kind !== 'node' || name === '');
  return target && isWhole
    ? { ok: true, target }
    : { ok: false, message: `explain: "${argv.join(' ')}" is not accepted: ${ACCEPTED}` };
}

/** `statelet explain`; false where the agent has none of that name. @throws AgentError where no agent answers */
export async function printExplanation(options: {
  rootDir: string;
  target: Target;
  json: boolean;
  write: (text: string) => void;
}): Promise<boolean> {
  const { rootDir, target, json, write } = options;
  const path = `/explain?${queryOf(target)}`;
  const explained = (await askAgent(controlSocketPath(rootDir), path)) as Explanation;
  write(json ? `${JSON.stringify(explained, null, 2)}\n` : renderExplanation(explained, Date.now()));
  return explained.found;
}
