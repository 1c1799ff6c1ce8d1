import { useState } from 'preact/hooks';

/** Children shown of one value; more would not be read. */
const SHOWN = 200;

/** A value as a tree that opens on a click. The first level is open. */
export function JsonTree({ value }: { value: unknown }) {
  if (value === undefined) return <p class="empty">The context is on its way.</p>;
  return (
    <div class="json">
      {isTree(value) ? (
        entriesOf(value).map(([key, inner]) => <Node key={key} name={key} value={inner} />)
      ) : (
        <Leaf value={value} />
      )}
    </div>
  );
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;
const entriesOf = (value: object): [string, unknown][] => Object.entries(value);

function Node({ name, value }: { name: string; value: unknown }) {
  const [isOpen, setOpen] = useState(false);
  if (!isTree(value))
    return (
      <div class="leaf">
        <span class="name">{name}</span> <Leaf value={value} />
      </div>
    );
  const entries = entriesOf(value);
  return (
    <div>
      <button class="name" aria-expanded={isOpen} disabled={!entries.length} onClick={() => setOpen(!isOpen)}>
        <span class={`twist${isOpen ? ' open' : ''}`}>{entries.length ? '▸' : ''}</span>
        {name} <span class="gist">{gist(value, entries)}</span>
      </button>
      {isOpen && (
        <div class="inner">
          {entries.slice(0, SHOWN).map(([key, inner]) => (
            <Node key={key} name={key} value={inner} />
          ))}
          {entries.length > SHOWN && <div class="leaf">and {entries.length - SHOWN} more</div>}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (value === '[redacted]') return <span class="redacted">redacted</span>;
  return (
    <span class={`value ${value === null ? 'null' : typeof value}`}>{JSON.stringify(value) ?? String(value)}</span>
  );
}

/** What a folded value is like. */
function gist(value: object, entries: [string, unknown][]): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (!entries.length) return '{}';
  const first = entries.filter(([, inner]) => !isTree(inner)).slice(0, 2);
  const text = first.map(([key, inner]) => `${key}: ${inner === '[redacted]' ? '•••' : String(inner)}`).join(', ');
  return text.length > 60
    ? `{${text.slice(0, 57)}…}`
    : `{${text}${entries.length > first.length ? (text ? ', …' : '…') : ''}}`;
}
