import type { Probe } from '../../machines/kubernetes.types.ts';
import type { Streak } from '../../machines/pod/policy/probe-verdict.ts';
import type { ProbeType } from '../../machines/pod/probe.types.ts';
import type { LiveActor } from '../live/live.types.ts';
import { timerSuffix } from './actor.ts';
import { WEIGHTS, type Cause, type Scene } from './explain.types.ts';
import { childrenOf } from './scene.ts';

/** What is read of a probe's context. */
interface SeenProbe {
  type: ProbeType;
  probe: Probe;
  verdict?: boolean;
  streak?: Streak;
  failure?: string;
}

const seenProbe = ({ live }: Scene, { sessionId }: LiveActor) => live.peek(sessionId) as SeenProbe;

/** What probes say against a running container: that it has not started, is not ready, or is about to be restarted. */
export function probeCause(scene: Scene, container: LiveActor, who: string): Cause | undefined {
  const probes = childrenOf(scene, container).filter(({ machine }) => machine === 'probe');
  const causes = probes.flatMap((actor): Cause[] => {
    const seen = seenProbe(scene, actor);
    const what = verdictWords(seen);
    if (what === undefined) return [];
    const isFailed = seen.failure !== undefined;
    const text = `${who} runs ${what}: its ${seen.type} probe ${resultWords(seen)}${timerSuffix(scene, actor)}`;
    return [{ weight: isFailed ? WEIGHTS.failed : WEIGHTS.progress, text }];
  });
  return causes.sort((a, b) => b.weight - a.weight)[0];
}

/** Undefined where it finds nothing to hold against the container. */
function verdictWords({ type, verdict, streak, probe }: SeenProbe): string | undefined {
  if (type === 'startup') return 'and has not started yet';
  if (type === 'readiness') return verdict === true ? undefined : 'and is not ready';
  if (!streak || streak.healthy) return undefined;
  const left = (probe.failureThreshold ?? 3) - streak.count;
  return `and is to be restarted after ${left} more failure${left === 1 ? '' : 's'}`;
}

function resultWords({ failure, streak, verdict }: SeenProbe): string {
  if (failure === undefined)
    return verdict === false ? 'succeeds again, and not often enough yet' : 'has not succeeded yet';
  const times = streak && !streak.healthy && streak.count > 1 ? ` ${streak.count} times in a row` : '';
  return `failed${times}${failure && ` (${failure.trim()})`}`;
}
