import { setTimeout } from 'node:timers/promises';
import { askAgent } from '../services/server/ask-agent.ts';
import { controlSocketPath } from '../services/server/control-socket.ts';
import type { ActorNode } from '../services/server/server.types.ts';

const WATCH_MS = 1000;
const CLEAR = '\x1b[H\x1b[2J';

/** `statelet ps`. @throws AgentError where no agent answers */
export async function printActors(options: {
  rootDir: string;
  json: boolean;
  watch: boolean;
  write: (text: string) => void;
}): Promise<void> {
  const path = controlSocketPath(options.rootDir);
  do {
    const actors = (await askAgent(path, '/actors')) as ActorNode[];
    const text = options.json ? `${JSON.stringify(actors, null, 2)}\n` : drawActors(actors, Date.now());
    options.write(options.watch && !options.json ? CLEAR + text : text);
    if (options.watch) await setTimeout(WATCH_MS);
  } while (options.watch);
}

/** The tree as text: name, state and age in columns. `now` in milliseconds since the epoch. */
export function drawActors(roots: readonly ActorNode[], now: number): string {
  const rows: [string, string, string][] = [['ACTOR', 'STATE', 'AGE']];
  const draw = (node: ActorNode, first: string, rest: string) => {
    const id = node.id.replace(`${node.machine}.`, '');
    const name = node.machine === id || node.isEffect ? node.machine : `${node.machine} ${node.about ?? id}`;
    rows.push([first + name, node.state, age(now - node.since)]);
    node.children.forEach((child, i) => {
      const last = i === node.children.length - 1;
      draw(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`);
    });
  };
  for (const root of roots) draw(root, '', '');
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const [names, states] = [width(0), width(1)];
  return rows.map(([name, state, since]) => `${name.padEnd(names)}  ${state.padEnd(states)}  ${since}\n`).join('');
}

/** As kubectl shows it: the two largest units at most. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h${minutes % 60}m` : `${Math.floor(hours / 24)}d${hours % 24}h`;
}
