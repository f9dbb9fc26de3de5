/**
 * The step from a request to its socket, around a fault of the library (pull request 1929 of uWebSockets).
 *
 * When a cork ends, the library looks at the state of the request that was corked. After an upgrade it reads that state from
 * memory that the upgrade has freed. If something else has been allocated there, the library may take it for the order to
 * end the connection. Then it closes the new socket without a close frame. The first socket of a process was often lost so:
 * V8 compiled the function that got it, and that allocates.
 *
 * Invariant: between an upgrade and the end of its cork, no function of ours runs. The library hands the new socket to a
 * function that is built into V8.
 */
import type { HttpResponse, WebSocketBehavior } from '../http/uws.ts';
import type { SocketConnection } from './open-socket.ts';

export type UpgradeContext = Parameters<NonNullable<WebSocketBehavior<unknown>['upgrade']>>[2];
export type Handshake = readonly [key: string, protocol: string, extensions: string];

export class Upgrades<UserData> {
  /** The socket that was opened in the present cork, if there is one. */
  readonly #opening: SocketConnection[] = [];
  /** The library calls it with the new socket. */
  readonly open: (connection: SocketConnection) => void = this.#opening.push.bind(this.#opening);

  /** Whether a socket that closes now does so as it opens. */
  get isOpening(): boolean {
    return this.#opening.length > 0;
  }

  /** The socket may be closed already. */
  upgrade(
    res: HttpResponse,
    userData: UserData,
    handshake: Handshake,
    context: UpgradeContext,
  ): SocketConnection | undefined {
    res.cork(() => res.upgrade<UserData>(userData, ...handshake, context));
    return this.#opening.pop();
  }
}
