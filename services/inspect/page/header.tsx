import { agentNow, type Model } from './model.ts';
import { span } from './time.ts';
import type { Tree } from './tree.ts';

/** How long a return of the agent is told, ms. */
const TELL_RETURN_MS = 15_000;
/** How long something that is said of the page itself is shown, ms. */
const TELL_NOTICE_MS = 10_000;

interface HeaderProps {
  model: Model;
  tree: Tree;
  onHelp(): void;
}

export function Header({ model, tree, onHelp }: HeaderProps) {
  return (
    <header class="header">
      <span class="brand">statelet</span>
      <span class="node" title={`statelet ${model.version}`}>
        {model.node}
      </span>
      <Connection model={model} />
      <Notice model={model} />
      {model.isWritable && (
        <span class="count" title="This agent runs with --inspect-write">
          takes events
        </span>
      )}
      <span class="counts">
        <Count n={tree.pods} of="pod" />
        <Count n={tree.containers} of="container" />
        {tree.failing > 0 && <span class="count bad">{tree.failing} failing</span>}
        {tree.stuck > 0 && <span class="count bad">{tree.stuck} stuck</span>}
      </span>
      <button class="key" title="Keys" onClick={onHelp}>
        ?
      </button>
    </header>
  );
}

function Notice({ model: { notice } }: { model: Model }) {
  if (!notice || Date.now() - notice.at > TELL_NOTICE_MS) return null;
  return (
    <span class="notice" role="status" title={notice.text}>
      {notice.text}
    </span>
  );
}

function Count({ n, of }: { n: number; of: string }) {
  return (
    <span class="count">
      <b>{n}</b> {of}
      {n === 1 ? '' : 's'}
    </span>
  );
}

function Connection({ model }: { model: Model }) {
  const { connection, cameBackAt, startedAt } = model;
  if (connection === 'away')
    return (
      <span class="connection away" role="status">
        the agent went away; reconnecting…
      </span>
    );
  if (connection === 'connecting')
    return (
      <span class="connection" role="status">
        connecting…
      </span>
    );
  if (cameBackAt !== undefined && Date.now() - cameBackAt < TELL_RETURN_MS)
    return (
      <span class="connection back" role="status">
        reconnected: the agent was restarted
      </span>
    );
  return (
    <span class="connection open" role="status">
      live{startedAt ? `, up ${span(agentNow(model) - startedAt)}` : ''}
    </span>
  );
}
