import type { Request } from './handler.ts';
import { listOptions, shown } from './handler.ts';
import { isTrue } from './route.ts';
import type { Parts } from './subresources.ts';
import { watch } from './watching.ts';
import type { WatchEvent } from './watching.ts';

/** Longest that a watch lasts unless the client asks for less, s. The real one draws between 30 and 60 min. */
const DEFAULT_TIMEOUT_SECONDS = 1800;

/** Streams a watch: JSON events, one a line, until the client goes, its timeout or `close`. The answer closes it. */
export function streamWatch(request: Request, { api }: Parts, bookmarkMs: number): () => void {
  const { response, target, query } = request;
  let header = true;
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.flushHeaders();
  const send = (event: WatchEvent) => {
    const body =
      event.type === 'ERROR'
        ? event.object
        : (shown(
            request,
            event.type === 'BOOKMARK' ? [] : [event.object],
            { resourceVersion: event.object.metadata.resourceVersion },
            api.now(),
            header,
          ) ?? event.object);
    if (event.type !== 'ERROR') header = false;
    response.write(`${JSON.stringify({ type: event.type, object: body })}\n`);
    if (event.type === 'ERROR') response.end();
  };
  const options = {
    ...listOptions(query),
    fieldSelector: fieldsOf(query, target.name),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
  };
  const watching = watch(api, { ...target, name: '' }, options, send);
  const bookmarks = setInterval(watching.bookmark, bookmarkMs);
  const end = setTimeout(() => response.end(), (Number(query.get('timeoutSeconds')) || DEFAULT_TIMEOUT_SECONDS) * 1000);
  response.on('close', () => {
    clearInterval(bookmarks);
    clearTimeout(end);
    watching.stop();
  });
  return () => response.destroy();
}

/** A watch of one object by its path is a watch with its name selected. */
const fieldsOf = (query: URLSearchParams, name: string) =>
  [query.get('fieldSelector') ?? '', name && `metadata.name=${name}`].filter(Boolean).join(',');
