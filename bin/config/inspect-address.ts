import { isIP } from 'node:net';

export interface InspectAddress {
  host: string;
  /** 0: any free one. */
  port: number;
}

const DEFAULT: InspectAddress = { host: '127.0.0.1', port: 10_270 };

/** No component of Kubernetes listens there. */
export const DEFAULT_INSPECT_ADDRESS = `${DEFAULT.host}:${DEFAULT.port}`;

export const INSPECT_ADDRESS_FORM =
  'a loopback address or a port: accepted are localhost, ::1 and addresses that begin with 127, with or without a port from 0 to 65535, or such a port alone';

/**
 * `127.0.0.1:10270`, `[::1]:10270`, `localhost`, `10270`; undefined for anything else. Other addresses are not taken: what
 * the inspector shows and takes is for this host alone.
 */
export function inspectAddress(text: string): InspectAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (/^\d{1,5}$/.test(text)) return withPort(DEFAULT.host, text);
  if (text.includes(':') && isIP(text) === 6) return withPort(text, undefined);
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? withPort(bracketed, digits) : undefined;
  return plain ? withPort(plain, digits) : undefined;
}

function withPort(name: string, digits: string | undefined): InspectAddress | undefined {
  const port = digits === undefined ? DEFAULT.port : Number(digits);
  // A name is not looked up: /etc/hosts may lead elsewhere.
  const host = name.toLowerCase() === 'localhost' ? DEFAULT.host : name;
  const isLoopback = (isIP(host) === 4 && host.startsWith('127.')) || host === '::1';
  return isLoopback && port <= 65_535 ? { host, port } : undefined;
}
