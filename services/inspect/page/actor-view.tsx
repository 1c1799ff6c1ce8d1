import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Chart } from '../../charts/chart.types.ts';
import type { LiveActor, Transition } from '../../live/live.types.ts';
import { ChartView } from './chart-view.tsx';
import { Why } from './why.tsx';
import { JsonTree } from './json-tree.tsx';
import { Log } from './log.tsx';
import { agentNow, type Model } from './model.ts';
import { routeOf } from './route.ts';
import { useTick } from './store.ts';
import { span } from './time.ts';
import { problemsOf } from './problems.ts';
import { shownIn, titleOf } from './tree.ts';
import { callsOf, isNear, pathsOf } from './verdict.ts';

interface ActorViewProps {
  actor: LiveActor;
  model: Model;
}

/** One actor: its chart, where it is in it, what it waits for, how it got there and what it knows. */
export function ActorView({ actor, model }: ActorViewProps) {
  const chart = model.charts.get(actor.machine);
  const transitions = model.transitions.filter((t) => t.actor === actor.name);
  const own = transitions.filter((t) => t.sessionId === actor.sessionId);
  const [tab, setTab] = useState<'log' | 'context'>('log');
  return (
    <>
      <section class="chart-side" aria-label="Chart">
        <Title actor={actor} model={model} />
        {chart ? (
          <ChartView chart={chart} actor={actor} last={own.at(-1)} />
        ) : (
          <p class="empty">There is no chart of {actor.machine}.</p>
        )}
      </section>
      <aside class="side">
        <Why explanation={model.explanations.get(actor.sessionId)} />
        <Now actor={actor} model={model} chart={chart} last={own.at(-1)} />
        <Family actor={actor} model={model} />
        <div class="tabs" role="tablist">
          <Tab name="Transitions" isOn={tab === 'log'} onClick={() => setTab('log')} count={transitions.length} />
          <Tab name="Context" isOn={tab === 'context'} onClick={() => setTab('context')} />
        </div>
        <div class="tab-body">
          {tab === 'log' ? (
            <Log transitions={transitions} session={actor.sessionId} model={model} />
          ) : (
            <JsonTree value={model.contexts.get(actor.sessionId)} />
          )}
        </div>
      </aside>
    </>
  );
}

function Tab({ name, isOn, count, onClick }: { name: string; isOn: boolean; count?: number; onClick(): void }) {
  return (
    <button role="tab" aria-selected={isOn} class={isOn ? 'on' : ''} onClick={onClick}>
      {name}
      {count !== undefined && <span class="n">{count}</span>}
    </button>
  );
}

function Title({ actor, model }: ActorViewProps) {
  return (
    <div class="title-bar">
      <span class="kind">{actor.machine}</span>
      <h1>
        {actor.about?.kind === 'pod' || actor.about?.kind === 'container'
          ? titleOf(actor)
          : (actor.about?.name ?? actor.id)}
      </h1>
      <span class={`pill ${shownIn(model, actor, agentNow(model))}`}>{actor.state || actor.status}</span>
    </div>
  );
}

/** In words of the chart: where it is, and what it waits for. */
function Now({
  actor,
  model,
  chart,
  last,
}: ActorViewProps & { chart: Chart | undefined; last: Transition | undefined }) {
  useTick(250);
  const now = agentNow(model);
  const paths = pathsOf(actor.state);
  const states = paths.map((path) => ({ path, text: chart?.states.find((s) => s.path === path)?.description }));
  const calls = callsOf(chart, actor);
  const headline = model.explanations.get(actor.sessionId)?.headline ?? '';
  const known = problemsOf(model.contexts.get(actor.sessionId)).filter(
    (text) => !headline.includes(text.replace(/^\w+: /, '')),
  );
  const failed = last?.cause.by === 'effectFailed' && last.to === actor.state ? [last.cause.detail ?? last.event] : [];
  return (
    <div class="now">
      {states.map(({ path, text }) => (
        <p class="sentence">
          {states.length > 1 && <code>{path} </code>}
          {text ?? path}
        </p>
      ))}
      {(known.length ? known : failed).map((problem) => (
        <p class="problem">{problem}</p>
      ))}
      <dl>
        <Fact name="since">{span(now - actor.since)}</Fact>
        {calls.map(({ src, id, began }) => (
          <Fact key={id} name="in flight">
            <code>{src}</code> for <b>{span(now - began)}</b>
          </Fact>
        ))}
        {actor.timers.filter(isNear).map(({ delay, state, startedAt, ms }) => (
          <Fact key={`${state}${delay}`} name="timer">
            <code>{delay}</code> in <b>{countdown(startedAt + ms - now)}</b>
            <span class="bar">
              <i style={{ width: `${Math.min(100, Math.max(0, ((now - startedAt) / (ms || 1)) * 100))}%` }} />
            </span>
          </Fact>
        ))}
        {actor.tags.length > 0 && (
          <Fact name="tags">
            {actor.tags.map((tag) => (
              <span class="tag">{tag}</span>
            ))}
          </Fact>
        )}
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Tenths of a second towards the end. */
const countdown = (ms: number) => (ms > 0 && ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms));

function Family({ actor, model }: ActorViewProps) {
  const parent = actor.parent === undefined ? undefined : model.actors.get(actor.parent);
  const children = (model.children.get(actor.sessionId) ?? []).flatMap((id) => model.actors.get(id) ?? []);
  if (!parent && !children.length) return null;
  const now = agentNow(model);
  const link = (other: LiveActor) => (
    <li>
      <a href={routeOf(other, model)}>
        <i class={`dot ${shownIn(model, other, now)}`} />
        <span class="label">{titleOf(other)}</span>
        <span class="state-name">{other.state}</span>
      </a>
    </li>
  );
  return (
    <div class="family">
      {parent && (
        <>
          <h2>Parent</h2>
          <ul>{link(parent)}</ul>
        </>
      )}
      {children.length > 0 && (
        <>
          <h2>Children</h2>
          <ul>{children.slice(0, 50).map(link)}</ul>
          {children.length > 50 && <p class="more">and {children.length - 50} more, in the list on the left</p>}
        </>
      )}
    </div>
  );
}
