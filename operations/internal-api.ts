/**
 * The internal gRPC API: sessions for other services, the cluster and its users for operators, health for probes.
 *
 * Anyone who can connect may call everything, so it listens on loopback or asks for certificates (mutual TLS); the
 * configuration refuses anything else unless it is overridden. It has no reflection: contracts are in `proto/`.
 *
 * Shutdown: watchers of health are notified, no new call is accepted, calls in flight finish within a bound, and the
 * rest is cut off.
 */
import { isIPv6 } from 'node:net';
import { logVerbosity, Server, type ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { HealthService } from '../proto/generated/grpc/health/v1/health.ts';
import { ClusterService } from '../proto/generated/scriptorium/v1/cluster.ts';
import { SessionsService } from '../proto/generated/scriptorium/v1/sessions.ts';
import { UsersService } from '../proto/generated/scriptorium/v1/users.ts';
import { sleep } from '../runtime/clock.ts';
import { Calls } from './calls.ts';
import { clusterHandlers } from './cluster.ts';
import { Health } from './health.ts';
import type { InternalApiOptions } from './internal-api-options.ts';
import { sessionsHandlers } from './sessions.ts';
import { usersHandlers } from './users.ts';

export interface InternalApi {
  /** Resolves to the port taken. Rejects when it is not available. */
  listen(host: string, port: number, credentials: ServerCredentials): Promise<number>;
  close(): Promise<void>;
}

const kibibyte = 1_024;

const serverOptions = {
  // The largest request is a caller's cookies.
  'grpc.max_receive_message_length': 256 * kibibyte,
  'grpc.max_send_message_length': 4 * kibibyte * kibibyte,
  'grpc.max_concurrent_streams': 256,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.enable_channelz': 0,
};

// The library also logs to standard error; everything it reports arrives as errors too.
setLogVerbosity(logVerbosity.NONE);

export function createInternalApi(options: InternalApiOptions): InternalApi {
  const server = new Server(serverOptions);
  const calls = new Calls(options);
  const health = new Health(options);
  server.addService(HealthService, health.implement(calls));
  server.addService(SessionsService, calls.implement(SessionsService, sessionsHandlers(options)));
  server.addService(ClusterService, calls.implement(ClusterService, clusterHandlers(options)));
  server.addService(UsersService, calls.implement(UsersService, usersHandlers(options)));

  return {
    listen: (host, port, credentials) =>
      new Promise((resolve, reject) => {
        const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
        server.bindAsync(address, credentials, (error, taken) =>
          error === null ? resolve(taken) : reject(error),
        );
      }),
    async close() {
      health.close();
      const finished = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await Promise.race([finished, sleep(options.clock, options.drainTimeoutMs)]);
      server.forceShutdown();
    },
  };
}
