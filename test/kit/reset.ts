import type { Socket } from 'node:net';

/**
 * Resets a connection. A unix socket has no reset, and one that is already ending can no longer be reset. There the
 * attempt fails silently, and leaves a handle that keeps the process alive forever.
 */
export function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
