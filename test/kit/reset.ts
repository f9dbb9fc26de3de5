import type { Socket } from 'node:net';

/**
 * Resets a connection. A unix socket knows no reset, and one that is being ended can no longer be reset: the attempt
 * fails without a word, and leaves a handle that keeps the process from ever ending.
 */
export function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
