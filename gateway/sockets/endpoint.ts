/**
 * `/sockets`: from an HTTP upgrade to an open socket (docs/protocol/sockets.md, "The socket").
 *
 *     head (admission) -> room -> the user's actor: session alive, gateway subscribed -> upgrade -> open
 *
 * Anything that prevents it is an HTTP answer to the upgrade, never a socket that opens and closes. Clients send the text `ping`
 * and close a socket on which nothing comes for two minutes. So the server answers with a JSON frame of a type that no client
 * knows, because clients parse every frame as JSON. The library pings a socket that has been silent for nearly a minute and drops
 * one that does not answer.
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
import { OpenSocket } from './open-socket.ts';
import type { SocketClaims } from './tokens.ts';

export interface SocketEndpointOptions {
  readonly hub: Hub;
  readonly admit: AdmitSocket;
  readonly handshakes: HandshakeLimiter;
  readonly metrics: SocketMetrics;
  readonly log: AccessLog;
  readonly replies: BodyWriterOptions;
  readonly framing: Framing;
  readonly connections: Pick<Connections, 'hold' | 'socketClosed'>;
  readonly requestId: () => string;
  readonly isDraining: () => boolean;
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
const fullForUser: HttpRefusal = {
  status: 429,
  message: 'This account has too many connections.',
  retryAfterMs: 60_000,
};

type Handshake = readonly [key: string, protocol: string, extensions: string];
type UpgradeContext = Parameters<NonNullable<WebSocketBehavior<UserData>['upgrade']>>[2];

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
    void checkAndOpen(socket, responder, id, () =>
      res.cork(() =>
        res.upgrade<UserData>({ socket, endHold: connections.hold(res) }, ...handshake, context),
      ),
    );
  }

  function capacityFor(claims: SocketClaims): OpenSocket | HttpRefusal {
    const socket = new OpenSocket(claims);
    const added = hub.add(socket);
    if (added === 'added') return socket;
    return added === 'full' ? full : fullForUser;
  }

  async function refusalFor(socket: OpenSocket): Promise<HttpRefusal | undefined> {
    if (!(await hub.check(socket))) return refusals.invalidAuth;
    return isDraining() ? restarting : undefined;
  }

  async function checkAndOpen(
    socket: OpenSocket,
    responder: Responder,
    id: string,
    open: () => void,
  ): Promise<void> {
    try {
      const refusal = await handshakes.run<HttpRefusal | undefined>(() => refusalFor(socket), full);
      if (responder.isFinished) return hub.remove(socket);
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
    open(ws) {
      metrics.upgrade('opened');
      ws.getUserData().socket.opened(ws);
    },
    message(ws, message) {
      if (Buffer.from(message).toString('latin1') === 'ping') ws.getUserData().socket.send(pong);
    },
    close(ws) {
      const { socket, endHold } = ws.getUserData();
      connections.socketClosed();
      endHold();
      socket.closed();
      hub.remove(socket);
      metrics.closed(socket.closedAs);
    },
  };
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
