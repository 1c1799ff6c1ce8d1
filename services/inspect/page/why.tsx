import type { Explanation } from '../../explain/explain.types.ts';
import { unsaid } from '../../explain/render.ts';

/** Lines of one kind that are shown. */
const MOST = 6;

/** In plain words, as `statelet explain` says it: the cause, what is waited for, what comes next, why it is not elsewhere. */
export function Why({ explanation }: { explanation: Explanation | undefined }) {
  if (!explanation)
    return (
      <section class="explained" aria-label="Why">
        <p class="headline">Asking the agent why…</p>
      </section>
    );
  const { headline, trouble, waitsFor, next, whyNot } = explanation;
  return (
    <section class="explained" aria-label="Why">
      <p class={`headline${trouble ? ' trouble' : ''}`}>{headline}</p>
      <Lines title="Waits for" lines={waitsFor.map(({ text }) => text)} but={headline} />
      <Lines title="Next" lines={next.map(({ who, when, then }) => `${who}: when ${when}: ${then}`)} />
      <Lines title="Why not elsewhere" lines={whyNot} but={headline} />
    </section>
  );
}

/** Without those that were said already. */
function Lines({ title, lines, but = '' }: { title: string; lines: readonly string[]; but?: string }) {
  const shown = unsaid(but, lines);
  if (shown.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <ul>
        {shown.slice(0, MOST).map((line) => (
          <li>{line}</li>
        ))}
        {shown.length > MOST && <li class="more">and {shown.length - MOST} more</li>}
      </ul>
    </>
  );
}
