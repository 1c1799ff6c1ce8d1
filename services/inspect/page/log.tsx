import type { Transition } from '../../live/live.types.ts';
import { agentNow, type Model } from './model.ts';
import { clock, shortSpan } from './time.ts';

const SHOWN = 200;

interface LogProps {
  transitions: readonly Transition[];
  session: string;
  model: Model;
}

/** What happened to the actor, newest first, and who asked. */
export function Log({ transitions, session, model }: LogProps) {
  if (!transitions.length) return <p class="empty">Nothing has happened since the agent began to watch it.</p>;
  const now = agentNow(model);
  return (
    <ol class="log">
      {transitions
        .slice(-SHOWN)
        .reverse()
        .map((transition, index, all) => {
          const { at, from, to, event, cause, sessionId } = transition;
          const isEarlierLife = sessionId !== session && (index === 0 || all[index - 1]?.sessionId === session);
          return (
            <>
              {isEarlierLife && <li class="life">an earlier actor of this name</li>}
              <li key={`${at}${to}${index}`}>
                <div class="when" title={clock(at)}>
                  {clock(at).slice(0, 8)} <span class="ago">{shortSpan(now - at)} ago</span>
                </div>
                <div class="step">
                  {from && <span class="from">{from} → </span>}
                  <b>{to}</b>
                </div>
                <div class="why">
                  <span class={`cause ${cause.by}`}>{cause.by}</span> {cause.detail ?? <code>{event}</code>}
                </div>
              </li>
            </>
          );
        })}
    </ol>
  );
}
