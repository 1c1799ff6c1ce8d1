import type { ClientMessage, ServerMessage } from '../inspect.types.ts';

const FIRST_RETRY_MS = 300;
const LAST_RETRY_MS = 3_000;

export interface Heard {
  opened(): void;
  message(message: ServerMessage): void;
  /** It is away, or never was there; another try follows. */
  away(): void;
}

/** The way to the agent: opened again, however often it breaks. Returns what sends; nothing is sent while it is away. */
export function connect(heard: Heard): (message: ClientMessage) => void {
  let socket: WebSocket | undefined;
  let retryMs = FIRST_RETRY_MS;
  const open = () => {
    const url = new URL('/ws', location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams({
      token: new URLSearchParams(location.search).get('token') ?? '',
      only: 'statelet',
    }).toString();
    url.hash = '';
    const own = new WebSocket(url);
    socket = own;
    own.addEventListener('open', () => {
      retryMs = FIRST_RETRY_MS;
      heard.opened();
    });
    own.addEventListener('message', ({ data }) => heard.message(JSON.parse(String(data)) as ServerMessage));
    own.addEventListener('close', () => {
      heard.away();
      setTimeout(open, retryMs);
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 1.6);
    });
  };
  open();
  return (message) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
}
