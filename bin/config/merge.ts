import { isObject, joinPath, type Json, type JsonObject } from './schema.ts';

/** Where each value came from, by JSON path: `default`, `file:<path>`, `drop-in:<path>` or `flag:--<name>`. */
export type Origins = Record<string, string>;

/**
 * JSON merge patch (RFC 7386) of `patch` into `target`, in place: objects merge key by key, lists are replaced,
 * `null` takes the value away, so that its default comes back (cmd/kubelet/app/server.go:mergeKubeletConfigurations).
 */
export function mergePatch(target: JsonObject, patch: JsonObject, origin: string, origins: Origins, path = ''): void {
  for (const [key, value] of Object.entries(patch)) {
    const here = joinPath(path, key);
    if (value === null) {
      delete target[key];
      forget(origins, here);
    } else if (isObject(value)) {
      const old = Object.hasOwn(target, key) ? target[key] : undefined;
      const inner: JsonObject = isObject(old) ? old : {};
      put(target, key, inner);
      mergePatch(inner, value, origin, origins, here);
      if (!Object.keys(value).length) origins[here] ??= origin;
    } else {
      put(target, key, value);
      forget(origins, here);
      origins[here] = origin;
    }
  }
}

/** Sets a key, one named `__proto__` as well. */
function put(target: JsonObject, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Drops what is known of the path and of all below it. */
export function forget(origins: Origins, path: string): void {
  for (const known of Object.keys(origins))
    if (known === path || known.startsWith(`${path}.`) || known.startsWith(`${path}[`)) delete origins[known];
}

/** The origin of a value, or of the nearest thing above or below it that was set; `default` where none was. */
export function originOf(origins: Origins, path: string): string {
  for (let at = path; at; at = at.replace(/(\.\w+|\[[^\]]*\])$|^\w+$/, '')) {
    const found = origins[at];
    if (found && found !== 'default') return found;
  }
  const below = Object.keys(origins).find((p) => p.startsWith(`${path}.`) || p.startsWith(`${path}[`));
  return (below && origins[below]) ?? 'default';
}

/** `/etc/kubelet.yaml` of `file:/etc/kubelet.yaml`, `--max-pods` of `flag:--max-pods`, for messages. */
export function shownOrigin(origin: string): string {
  return origin === 'default' ? 'defaults' : origin.replace(/^(file|drop-in|flag):/, '');
}
