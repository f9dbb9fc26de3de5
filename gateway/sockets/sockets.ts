/** The complete sockets of a gateway, as `gateway/server.ts` uses them. */
import type { Registry } from 'prom-client';
import type { TemplatedApp } from '../http/uws.ts';
import type { GatewaySettings } from '../settings.ts';
import { createSocketAdmission, type SocketAdmissionOptions, socketPath } from './admission.ts';
import { createSocketBehavior, type SocketSurroundings } from './endpoint.ts';
import { Hub, type HubOptions, type SessionWatch } from './hub.ts';
import { prometheusSocketMetrics } from './metrics.ts';
import type { SocketClaims } from './tokens.ts';

export interface SocketsOptions
  extends SocketSurroundings,
    SocketAdmissionOptions,
    Omit<HubOptions, 'metrics'> {
  readonly limits: GatewaySettings['sockets'];
  readonly registry: Registry;
}

export interface Sockets {
  /** Closes all of them within this time. New ones are already refused. */
  drain(withinMs: number): Promise<void>;
  stop(): void;
  /** Calls `ended` once the session has ended. The function it returns ends the watch. */
  watchSession(claims: SocketClaims, ended: () => void): () => void;
  /** The same for a caller that is about to ask the user's actor. */
  watchWhileAsking(claims: SocketClaims, ended: () => void): SessionWatch;
}

export function openSockets(app: TemplatedApp, options: SocketsOptions): Sockets {
  const metrics = prometheusSocketMetrics(options.registry, {
    open: () => hub.size,
    users: () => hub.users,
    waiting: () => hub.waiting,
    vaults: () => hub.vaults,
  });
  const hub = new Hub({ ...options, metrics });
  const { idleSeconds } = options.limits;
  const admit = createSocketAdmission(options);
  app.ws(socketPath, createSocketBehavior({ ...options, idleSeconds, hub, metrics, admit }));
  return {
    drain: (withinMs) => hub.closeAll(withinMs),
    stop: () => hub.stop(),
    watchSession: (claims, ended) => hub.watch(claims, ended),
    watchWhileAsking: (claims, ended) => hub.watchWhileAsking(claims, ended),
  };
}
