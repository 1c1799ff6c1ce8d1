/** Errors of connect(2) in the words of Go, which users of the kubelet know. */
const CONNECT_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EACCES: 'connect: permission denied',
  ECONNRESET: 'connect: connection reset by peer',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
};

/** OpenSSL's reason within Node's message of a failed handshake. */
const TLS_REASON = /SSL routines:[^:]*:([^:]+):/;

/** What went wrong on the way to an address, as Go says it: `dial tcp 10.0.0.7:80: connect: connection refused`. */
export function networkError(error: unknown, host: string, address: string): string {
  const { code = '', syscall, message } = firstOf(error);
  if (syscall === 'getaddrinfo') return `dial tcp: lookup ${host}: ${code === 'ENOTFOUND' ? 'no such host' : code}`;
  if (syscall === 'connect') return `dial tcp ${address}: ${CONNECT_WORDS[code] ?? `connect: ${code}`}`;
  // The server closed without an answer.
  if (code === 'ECONNRESET') return 'EOF';
  const tls = TLS_REASON.exec(message)?.[1];
  if (tls === 'wrong version number') return 'http: server gave HTTP response to HTTPS client';
  return tls === undefined ? message : `tls: ${tls}`;
}

/** A name with several addresses fails once for each of them. */
function firstOf(error: unknown): NodeJS.ErrnoException {
  const { errors } = error as { errors?: NodeJS.ErrnoException[] };
  return errors?.[0] ?? (error as NodeJS.ErrnoException);
}
