export { controlSocketPath, serveControlSocket } from './control-socket.ts';
export { serveHealthz, serveReadOnly } from './http-servers.ts';
