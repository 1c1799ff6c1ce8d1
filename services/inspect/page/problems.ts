/** Parts of a context that say what is wanted or was seen, not what went wrong. */
const NOT_OWN = ['env', 'pod', 'settings', 'told', 'plan', 'observed', 'status', 'instances', 'desired'];
const MOST = 3;

/** Reasons with a message that an actor keeps in its context: what the agent also tells of the pod, in Kubernetes' words. */
export function problemsOf(context: unknown): string[] {
  if (!isObject(context)) return [];
  const own = Object.entries(context).flatMap(([key, value]) => (NOT_OWN.includes(key) ? [] : [value]));
  const near = own.flatMap((value) => (isObject(value) ? [value, ...Object.values(value)] : []));
  const texts = near.flatMap((value) => {
    if (!isObject(value)) return [];
    const { reason, message } = value;
    return typeof message === 'string' && message
      ? [typeof reason === 'string' ? `${reason}: ${message}` : message]
      : [];
  });
  return [...new Set(texts)].slice(0, MOST);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
