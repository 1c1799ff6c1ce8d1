import type { AnyActorRef, AnyStateNode } from 'xstate';
import type { About } from './live.types.ts';

/** What a machine's snapshot shows; an effect's has no value. */
export interface SnapshotView {
  status?: 'active' | 'done' | 'error' | 'stopped';
  value?: unknown;
  context?: unknown;
  error?: unknown;
  tags?: ReadonlySet<string>;
  children?: Readonly<Record<string, AnyActorRef | undefined>>;
  /** XState's own: the state nodes that are active. */
  _nodes?: readonly AnyStateNode[];
}

export function snapshotOf(actor: AnyActorRef): SnapshotView {
  return (actor.getSnapshot() ?? {}) as SnapshotView;
}

/** What of an effect's input is shown: until when a stop may take. */
export function grantedTo(actor: AnyActorRef): { killAt?: number } {
  const { killAt } = ((snapshotOf(actor) as { input?: unknown }).input ?? {}) as { killAt?: unknown };
  return typeof killAt === 'number' ? { killAt } : {};
}

/** By what the machines keep of a failure until it is made good: a waiting reason, what failed last, what is not available. */
export function isFailing(context: unknown): boolean {
  const { waiting, failure, unavailable } = (context ?? {}) as Record<string, unknown>;
  // A pod's is by container, and each of those tells its own.
  const hasReason = typeof (waiting as { reason?: unknown } | undefined)?.reason === 'string';
  return hasReason || typeof failure === 'string' || typeof unavailable === 'string';
}

/** A machine has states; anything else that runs in the system is an effect or a watch of a machine. */
export function isMachine(actor: AnyActorRef): boolean {
  return 'root' in ((actor as AnyActorRef & { logic?: object }).logic ?? {});
}

export function parentOf(actor: AnyActorRef): AnyActorRef | undefined {
  return (actor as AnyActorRef & { _parent?: AnyActorRef })._parent;
}

/** The machine's id, or the slot's name of an effect. */
export function machineOf(actor: AnyActorRef): string {
  const { src, logic } = actor as AnyActorRef & { src?: unknown; logic?: { id?: string } };
  return logic?.id ?? (typeof src === 'string' ? src : actor.id);
}

const texts = new Map<string, string>();

/** The text of a state, the same object each time: histories hold many. */
export function stateName(snapshot: SnapshotView): string {
  const text = stateText(snapshot);
  const known = texts.get(text);
  if (known === undefined) texts.set(text, text);
  return known ?? text;
}

/** `syncing.active`; of parallel states those that are not over, with `, ` between. */
function stateText({ _nodes: nodes = [] }: SnapshotView): string {
  const leaves = nodes.filter(({ type }) => type === 'atomic' || type === 'final').sort((a, b) => a.order - b.order);
  const open = leaves.filter(({ type }) => type !== 'final');
  return (open.length > 0 ? open : leaves).map(({ path }) => path.join('.')).join(', ');
}

interface Named {
  namespace?: unknown;
  name?: unknown;
  uid?: unknown;
}

/** Read from the context: of a pod, a container, an image or the node; undefined where it names none. */
export function aboutOf(machine: string, context: unknown): About | undefined {
  const { pod, container, image, volume, nodeName, type, ...own } = (context ?? {}) as Named & {
    pod?: Named & { metadata?: Named };
    container?: Named;
    volume?: Named;
    image?: unknown;
    nodeName?: unknown;
    type?: unknown;
  };
  const { namespace, name, uid } = typeof own.namespace === 'string' ? own : (pod?.metadata ?? pod ?? {});
  const ofPod = {
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof uid === 'string' && { uid }),
  };
  if (typeof name === 'string' && typeof namespace === 'string') {
    if (machine === 'container' && typeof container?.name === 'string')
      return { kind: 'container', name, container: container.name, ...ofPod };
    if (machine === 'probe' && typeof type === 'string') return { kind: 'probe', name: type, ...ofPod };
    if (machine === 'imagePull' && typeof image === 'string') return { kind: 'image', name: image, ...ofPod };
    if (machine === 'volume' && typeof volume?.name === 'string')
      return { kind: 'volume', name: volume.name, ...ofPod };
    return { kind: 'pod', name, ...ofPod };
  }
  return typeof nodeName === 'string' ? { kind: 'node', name: nodeName } : undefined;
}

/**
 * The name that outlives the actor and the process: `pod default/web`, `container default/web/main`,
 * `imagePull default/web/main`, `probe default/web/main/readiness`, `syncloop`, `podSource fileSource`.
 */
export function lastingName(machine: string, id: string, about: About | undefined, parent: string | undefined): string {
  if (parent === undefined) return machine;
  const { namespace, name, container, kind } = about ?? {};
  if (kind === 'pod') return `${machine} ${namespace}/${name}`;
  if (kind === 'container') return `${machine} ${namespace}/${name}/${container}`;
  if (kind === 'volume' || kind === 'probe') return `${machine} ${parent.replace(/^\S+ /, '')}/${name}`;
  if (kind === 'image')
    return parent.startsWith('container ') ? parent.replace('container', machine) : `${machine} ${name}`;
  return id === machine ? machine : `${machine} ${id.startsWith(`${machine}.`) ? id.slice(machine.length + 1) : id}`;
}
