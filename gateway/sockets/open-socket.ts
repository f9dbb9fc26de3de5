/**
 * One socket of a session, from its admission on. Before the upgrade is complete it has no connection, and frames to
 * it are dropped: its client syncs when it opens.
 *
 * uWebSockets.js closes a socket whose client reads too slowly, at a time of its own choice, and touching it after
 * that is an error. So this class records the end of a socket, and sends nothing after it.
 */
import type { SocketClaims } from './tokens.ts';

/** The parts of uWebSockets.js's `WebSocket` in use. */
export interface SocketConnection {
  /** 1: sent, 0: buffered, 2: dropped, because too much is buffered. */
  send(text: string): number;
  end(code: number, reason: string): void;
  close(): void;
}

export const closeCodes = {
  /** The session has ended: dialling again will be refused. */
  sessionEnded: 1008,
  /** The process is about to stop: dialling again finds another, or the next run. */
  restarting: 1012,
} as const;

const dropped = 2;

/**
 * `slow`: the client did not read. `silent`: it did not answer a ping. `invalid`: it sent what is too large, or no WebSocket.
 * `opening`: the library closed the socket as it opened.
 */
export type CloseReason = 'client' | 'session-ended' | 'slow' | 'silent' | 'invalid' | 'draining' | 'opening';

export class OpenSocket implements SocketClaims {
  readonly userUuid: string;
  readonly sessionUuid: string;
  #connection: SocketConnection | undefined;
  #closedAs: CloseReason | undefined;

  constructor({ userUuid, sessionUuid }: SocketClaims) {
    this.userUuid = userUuid;
    this.sessionUuid = sessionUuid;
  }

  get isClosed(): boolean {
    return this.#closedAs !== undefined;
  }

  /** Why it closed: because of the client, unless the server did it. */
  get closedAs(): CloseReason {
    return this.#closedAs ?? 'client';
  }

  opened(connection: SocketConnection): void {
    this.#connection = connection;
  }

  /** The connection is gone and must not be touched. The reason counts unless the server has ended the socket. */
  closed(reason: CloseReason): void {
    this.#closedAs ??= reason;
    this.#connection = undefined;
  }

  /** Whether the frame is on its way. */
  send(text: string): boolean {
    const connection = this.#connection;
    if (connection === undefined || this.isClosed) return false;
    if (connection.send(text) !== dropped) return true;
    this.#closedAs = 'slow';
    connection.close();
    return false;
  }

  end(reason: CloseReason, code: number): void {
    if (this.isClosed) return;
    this.#closedAs = reason;
    this.#connection?.end(code, '');
  }
}
