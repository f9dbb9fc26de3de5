/**
 * `/sockets`: from an HTTP upgrade to an open socket (docs/protocol/sockets.md, "The socket").
 *
 *     head (admission) -> room -> the user's actor: session alive, gateway subscribed -> upgrade -> open
 *
 * Anything that prevents it is an HTTP answer to the upgrade, never a socket that opens and closes. So the endpoint looks once
 * more, after the actor has answered, whether the socket may open.
 *
 * Clients send the text `ping` and close a socket on which nothing comes for two minutes. So the server answers with a JSON
 * frame of a type that no client knows, because clients parse every frame as JSON. The library pings a socket that has been
 * silent for nearly a minute and drops one that does not answer.
 */
import type { AccessLog } from '../http/access-log.ts';
import type { BodyWriterOptions } from '../http/body-writer.ts';
import type { Connections } from '../http/connections.ts';
import { refusalOf } from '../http/errors.ts';
import type { Framing } from '../http/headers.ts';
import { type HttpRefusal, refusalHeaders, refusalJson, refusals } from '../http/refusal.ts';
import { anonymousReader, jsonType, Responder } from '../http/responder.ts';
import { DISABLED, type HttpRequest, type HttpResponse, type WebSocketBehavior } from '../http/uws.ts';
import type { AdmitSocket } from './admission.ts';
import type { HandshakeLimiter } from './handshake-limiter.ts';
import type { Hub } from './hub.ts';
import type { SocketMetrics } from './metrics.ts';
import { type CloseReason, OpenSocket } from './open-socket.ts';
import type { SocketClaims } from './tokens.ts';
import { type Handshake, type UpgradeContext, Upgrades } from './upgrades.ts';

/** What the gateway has for its sockets, those of the sync lane included. */
export interface SocketSurroundings {
  readonly handshakes: HandshakeLimiter;
  readonly log: AccessLog;
  readonly replies: BodyWriterOptions;
  readonly framing: Framing;
  readonly connections: Pick<Connections, 'hold' | 'socketClosed'>;
  readonly requestId: () => string;
  readonly isDraining: () => boolean;
}

export interface SocketEndpointOptions extends SocketSurroundings {
  readonly hub: Hub;
  readonly admit: AdmitSocket;
  readonly metrics: SocketMetrics;
  /** A socket that is silent for so long, without even an answer to a ping, is dropped. */
  readonly idleSeconds: number;
}

/** The library copies the fields of this object, so anything with an identity is inside one of them. */
interface UserData {
  readonly socket: OpenSocket;
  readonly endHold: () => void;
}

/** Clients send only `ping`. */
const payloadBytesMax = 1_024;
/** A few hundred frames: a client that has not read those connects again and syncs. */
const backpressureBytesMax = 64 * 1_024;

const pong = '{"type":"PONG"}';

const restarting: HttpRefusal = {
  status: 503,
  message: 'The server is about to restart. Please try again.',
  retryAfterMs: 1_000,
};
const full: HttpRefusal = {
  status: 503,
  message: 'The server has too many connections at the moment. Please try again later.',
  retryAfterMs: 30_000,
};
/** Too many clients are connecting, so the handshake had to wait for too long, or could not even wait. */
const tooManyAtOnce: HttpRefusal = {
  status: 503,
  message: 'Too many clients are connecting at the moment. Please try again later.',
  retryAfterMs: 30_000,
};
const fullForUser: HttpRefusal = {
  status: 429,
  message: 'This account has too many connections.',
  retryAfterMs: 60_000,
};

/** The code of an end without a close frame. */
const abnormal = 1006;
/** What the library says at such an end. It says nothing at a reset. */
const reasonsOfLibrary: Readonly<Record<string, CloseReason>> = {
  '': 'client',
  'Received TCP FIN before WebSocket close frame': 'client',
  'WebSocket timed out from inactivity': 'silent',
};

export function createSocketBehavior(options: SocketEndpointOptions): WebSocketBehavior<UserData> {
  const {
    hub,
    admit,
    handshakes,
    metrics,
    log,
    requestId,
    isDraining,
    idleSeconds,
    replies,
    framing,
    connections,
  } = options;
  const upgrades = new Upgrades<UserData>();

  function upgrade(res: HttpResponse, req: HttpRequest, context: UpgradeContext): void {
    const headers = framing.headersOf(res, req);
    if (headers === undefined) return;
    const id = requestId();
    const responder = new Responder(res, id, replies, {
      reader: anonymousReader,
      done: (status) => metrics.upgrade(status === 0 ? 'aborted' : 'refused'),
    });
    res.onAborted(() => responder.abort());
    const handshake: Handshake = [
      headers.get('sec-websocket-key'),
      headers.get('sec-websocket-protocol'),
      headers.get('sec-websocket-extensions'),
    ];
    const admitted = isDraining() ? restarting : admit(res, req, headers);
    const socket = 'status' in admitted ? admitted : capacityFor(admitted);
    if ('status' in socket) {
      refuse(responder, socket);
      return;
    }
    void checkAndOpen(socket, responder, id, () => {
      const userData = { socket, endHold: connections.hold(res) };
      const connection = upgrades.upgrade(res, userData, handshake, context);
      metrics.upgrade('opened');
      if (connection !== undefined && !socket.isClosed) socket.opened(connection);
    });
  }

  function capacityFor(claims: SocketClaims): OpenSocket | HttpRefusal {
    const socket = new OpenSocket(claims);
    const added = hub.add(socket);
    if (added === 'added') return socket;
    return added === 'full' ? full : fullForUser;
  }

  const refusalOfChecked = (socket: OpenSocket, isAlive: boolean): HttpRefusal | undefined =>
    isDraining() ? restarting : isAlive && !socket.isClosed ? undefined : refusals.invalidAuth;

  async function checkAndOpen(
    socket: OpenSocket,
    responder: Responder,
    id: string,
    open: () => void,
  ): Promise<void> {
    try {
      const isAlive = await handshakes.run<boolean | undefined>(() => hub.check(socket), undefined);
      if (responder.isFinished) return hub.remove(socket);
      const refusal = isAlive === undefined ? tooManyAtOnce : refusalOfChecked(socket, isAlive);
      if (refusal === undefined) return open();
      hub.remove(socket);
      refuse(responder, refusal);
    } catch (error) {
      hub.remove(socket);
      const refusal = refusalOf(error);
      if (refusal === undefined) log.failed(undefined, id, error);
      refuse(responder, refusal ?? refusals.unexpected);
    }
  }

  return {
    compression: DISABLED,
    maxPayloadLength: payloadBytesMax,
    maxBackpressure: backpressureBytesMax,
    closeOnBackpressureLimit: true,
    idleTimeout: idleSeconds,
    sendPingsAutomatically: true,
    upgrade,
    open: upgrades.open,
    message(ws, message) {
      if (Buffer.from(message).toString('latin1') === 'ping') ws.getUserData().socket.send(pong);
    },
    close(ws, code, message) {
      const { socket, endHold } = ws.getUserData();
      connections.socketClosed();
      endHold();
      socket.closed(upgrades.isOpening ? 'opening' : reasonOf(code, message));
      hub.remove(socket);
      metrics.closed(socket.closedAs);
      if (code === abnormal && socket.closedAs !== 'client') log.socketCut(socket.closedAs);
    },
  };
}

function reasonOf(code: number, message: ArrayBuffer): CloseReason {
  if (code !== abnormal) return 'client';
  return reasonsOfLibrary[Buffer.from(message).toString('latin1')] ?? 'invalid';
}

function refuse(responder: Responder, refusal: HttpRefusal): void {
  const { status } = refusal;
  responder.send({
    status,
    contentType: jsonType,
    body: refusalJson(refusal),
    headers: refusalHeaders(refusal),
  });
}
