import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chart } from '../../charts/chart.types.ts';
import type { LiveActor, Transition } from '../../live/live.types.ts';
import { pictureOf, type Picture } from './place.ts';
import { pathsOf } from './verdict.ts';
import { walked } from './walked.ts';

/** Smallest size at which the text is still read without effort. */
const READABLE = 0.72;
const LARGEST = 1.6;
const STEP = 1.2;

interface ChartViewProps {
  chart: Chart;
  actor: LiveActor;
  last: Transition | undefined;
}

/** The actor's chart: states it is in are lit, and the edges of its last transition. */
export function ChartView({ chart, actor, last }: ChartViewProps) {
  const [placed, setPlaced] = useState<Picture>();
  const [scale, setScale] = useState<number>();
  const pane = useRef<HTMLDivElement>(null);
  const picture = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isWanted = true;
    pictureOf(chart).then((found) => isWanted && setPlaced(found));
    return () => {
      isWanted = false;
    };
  }, [chart]);
  const svg = placed?.svg ?? '';

  const fitting = (least: number) => {
    const { clientWidth = 800, clientHeight = 600 } = pane.current ?? {};
    if (!placed) return 1;
    const fit = Math.min((clientWidth - 24) / placed.width, (clientHeight - 24) / placed.height);
    return Math.min(1, Math.max(least, fit));
  };
  useEffect(() => setScale(fitting(READABLE)), [placed]);

  useEffect(() => {
    if (picture.current) light(picture.current, chart, actor, last);
  }, [svg, actor.state, actor.status, last, scale === undefined]);
  useEffect(() => {
    const lit = picture.current?.querySelector('.state.active:not(.parent)');
    if (pane.current && lit) show(pane.current, lit);
  }, [svg, actor.state, scale]);

  const zoom = (by: number) => setScale((now = 1) => Math.min(LARGEST, Math.max(0.2, now * by)));
  const size = {
    width: `${(placed?.width ?? 0) * (scale ?? 1)}px`,
    height: `${(placed?.height ?? 0) * (scale ?? 1)}px`,
  };
  return (
    <div class="chart-frame">
      <div
        class="chart-pane"
        ref={pane}
        tabIndex={0}
        data-keys="own"
        onWheel={(event) => {
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          zoom(event.deltaY < 0 ? STEP : 1 / STEP);
        }}
      >
        <div class="picture" ref={picture} style={size} dangerouslySetInnerHTML={{ __html: svg }} />
        {!placed && <p class="empty">Laying the chart out…</p>}
      </div>
      <div class="zoom">
        <button title="Smaller" onClick={() => zoom(1 / STEP)}>
          −
        </button>
        <button title="Whole chart" onClick={() => setScale(fitting(0.2))}>
          fit
        </button>
        <button title="Readable size" onClick={() => setScale(fitting(READABLE))}>
          read
        </button>
        <button title="Larger" onClick={() => zoom(STEP)}>
          +
        </button>
      </div>
    </div>
  );
}

/** Marks what is active and what was walked last; the picture itself stays as it is. */
function light(picture: HTMLElement, chart: Chart, actor: LiveActor, last: Transition | undefined): void {
  for (const lit of picture.querySelectorAll('.active,.walked,.left')) lit.classList.remove('active', 'walked', 'left');
  const active = pathsOf(actor.state).flatMap((path) =>
    path.split('.').map((_, n, all) => all.slice(0, n + 1).join('.')),
  );
  const mark = (selector: string, name: string) => {
    for (const found of picture.querySelectorAll(selector)) found.classList.add(name);
  };
  for (const path of active) mark(`[data-state="${CSS.escape(path)}"]`, 'active');
  if (!last) return;
  for (const edge of walked(chart, last)) {
    const { from = '', to = '' } = chart.edges[edge] ?? {};
    mark(`[data-from="${CSS.escape(from)}"][data-to="${CSS.escape(to)}"]`, 'walked');
    mark(`text[data-edges~="${edge}"]`, 'walked');
  }
  const lines = picture.querySelectorAll('.edge.walked');
  // Above the others, where they cross.
  for (const line of lines) line.parentElement?.insertBefore(line, picture.querySelector('.text'));
}

/** Scrolls a picture that is larger than its pane to what is lit. */
function show(pane: HTMLElement, lit: Element): void {
  const box = pane.getBoundingClientRect();
  const { x, y, width, height } = lit.getBoundingClientRect();
  const isSeen = x > box.x + 20 && y > box.y + 20 && x + width < box.right - 20 && y + height < box.bottom - 20;
  if (isSeen) return;
  pane.scrollTo({
    left: pane.scrollLeft + x + width / 2 - box.x - box.width / 2,
    top: pane.scrollTop + y + height / 2 - box.y - box.height / 2,
    behavior: 'smooth',
  });
}
