import type { Dict, KubeObject } from './objects.ts';
import { at, isDict, listAt, textAt } from './objects.ts';
import { humanDuration } from './duration.ts';

const state = (status: Dict, kind: string): Dict | undefined => {
  const found = at(status, `state.${kind}`);
  return isDict(found) ? found : undefined;
};

/** Ready, Status, Restarts and Readiness Gates of a pod. Source: k8s.io/kubernetes printers.go:printPod. */
export function podCells(pod: KubeObject, now: number): [string, string, string, string] {
  const specs = listAt(pod, 'spec.containers');
  const sidecars = new Set(
    listAt(pod, 'spec.initContainers')
      .filter((c) => c['restartPolicy'] === 'Always')
      .map((c) => c['name']),
  );
  const inits = listAt(pod, 'status.initContainerStatuses');
  const statuses = listAt(pod, 'status.containerStatuses');
  const initializing = initReason(pod, inits, sidecars);
  const readySidecars = inits.filter((s) => sidecars.has(s['name']) && s['ready'] === true).length;
  const ready = readySidecars + statuses.filter((s) => s['ready'] === true && state(s, 'running')).length;
  const counted = initializing ? inits : [...inits.filter((s) => sidecars.has(s['name'])), ...statuses];
  return [
    `${ready}/${specs.length + sidecars.size}`,
    reason(pod, initializing ?? mainReason(pod, statuses)),
    restarts(counted, now),
    gates(pod),
  ];
}

function reason(pod: KubeObject, base: string): string {
  if (!pod.metadata.deletionTimestamp) return base;
  if (textAt(pod, 'status.reason') === 'NodeLost') return 'Unknown';
  return /^(Failed|Succeeded)$/.test(textAt(pod, 'status.phase')) ? base : 'Terminating';
}

const ended = ({ reason: why, signal, exitCode }: Dict): string =>
  typeof why === 'string' && why ? why : signal ? `Signal:${String(signal)}` : `ExitCode:${String(exitCode)}`;

/** `Init:…` while an init container is not done; else undefined. */
function initReason(pod: KubeObject, inits: readonly Dict[], sidecars: Set<unknown>): string | undefined {
  const total = listAt(pod, 'spec.initContainers').length;
  for (const [index, status] of inits.entries()) {
    const terminated = state(status, 'terminated');
    const waiting = state(status, 'waiting');
    if (terminated && terminated['exitCode'] === 0) continue;
    if (sidecars.has(status['name']) && status['started'] === true) continue;
    if (terminated) return `Init:${ended(terminated)}`;
    if (waiting && waiting['reason'] && waiting['reason'] !== 'PodInitializing')
      return `Init:${String(waiting['reason'])}`;
    const initialized = listAt(pod, 'status.conditions').some(
      (c) => c['type'] === 'Initialized' && c['status'] === 'True',
    );
    return initialized && !state(status, 'running') ? undefined : `Init:${index}/${total}`;
  }
  return undefined;
}

function mainReason(pod: KubeObject, statuses: readonly Dict[]): string {
  let told = textAt(pod, 'status.reason') || textAt(pod, 'status.phase');
  let running = false;
  for (const status of [...statuses].reverse()) {
    const waiting = state(status, 'waiting');
    const terminated = state(status, 'terminated');
    if (waiting?.['reason']) told = String(waiting['reason']);
    else if (terminated) told = ended(terminated);
    else if (status['ready'] === true && state(status, 'running')) running = true;
  }
  if (told !== 'Completed' || !running) return told;
  return listAt(pod, 'status.conditions').some((c) => c['type'] === 'Ready' && c['status'] === 'True')
    ? 'Running'
    : 'NotReady';
}

function restarts(statuses: readonly Dict[], now: number): string {
  const count = statuses.reduce((sum, s) => sum + Number(s['restartCount'] ?? 0), 0);
  const last = Math.max(0, ...statuses.map((s) => Date.parse(textAt(s, 'lastState.terminated.finishedAt')) || 0));
  return count && last ? `${count} (${humanDuration(now - last)} ago)` : String(count);
}

function gates(pod: KubeObject): string {
  const wanted = listAt(pod, 'spec.readinessGates');
  if (!wanted.length) return '<none>';
  const conditions = listAt(pod, 'status.conditions');
  const true_ = wanted.filter((g) =>
    conditions.some((c) => c['type'] === g['conditionType'] && c['status'] === 'True'),
  );
  return `${true_.length}/${wanted.length}`;
}
