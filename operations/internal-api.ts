/**
 * The internal gRPC API: sessions for other services; the cluster, its users, imports, mail, registration and pairings
 * for operators; health for probes.
 *
 * Anyone who can reach it may call everything. It listens on a socket, for callers that can open its file. If so
 * configured, it also listens on a port, for callers with a certificate (mutual TLS) or the token
 * (`operations/access.ts`). By default the configuration refuses addresses other than loopback without mutual TLS. It
 * has no reflection: contracts are in `proto/`.
 *
 * Shutdown: it notifies the watchers of health, accepts no new call, lets calls in flight finish within a bound, and
 * cuts off the rest.
 */
import { isIPv6 } from 'node:net';
import {
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerInterceptor,
  setLogVerbosity,
} from '@grpc/grpc-js';
import { importCallBytesMax } from '../actors/import/operator-contract.ts';
import { HealthService } from '../proto/generated/grpc/health/v1/health.ts';
import { ClusterService } from '../proto/generated/scriptorium/v1/cluster.ts';
import { ImportService } from '../proto/generated/scriptorium/v1/import.ts';
import { MailService } from '../proto/generated/scriptorium/v1/mail.ts';
import { PairingService } from '../proto/generated/scriptorium/v1/pairing.ts';
import { RegistrationService } from '../proto/generated/scriptorium/v1/registration.ts';
import { SessionsService } from '../proto/generated/scriptorium/v1/sessions.ts';
import { UsersService } from '../proto/generated/scriptorium/v1/users.ts';
import { sleep } from '../runtime/clock.ts';
import { demandToken } from './access.ts';
import { Calls } from './calls.ts';
import { clusterHandlers } from './cluster.ts';
import { Health } from './health.ts';
import { importHandlers } from './import.ts';
import type { InternalApiOptions } from './internal-api-options.ts';
import { mailHandlers } from './mail.ts';
import { pairingHandlers } from './pairing.ts';
import { registrationHandlers } from './registration.ts';
import { sessionsHandlers } from './sessions.ts';
import { usersHandlers } from './users.ts';

/** How a port is guarded. Without a token, `credentials` must be those of mutual TLS. */
interface PortAccess {
  readonly credentials: ServerCredentials;
  readonly token: string | undefined;
}

export interface InternalApi {
  /** Makes the socket. Rejects if the name is taken. */
  listenOnSocket(path: string): Promise<void>;
  /** Resolves to the port in use. Rejects when it is not available. */
  listenOnPort(host: string, port: number, access: PortAccess): Promise<number>;
  close(): Promise<void>;
}

const kibibyte = 1_024;

const serverOptions = {
  'grpc.max_send_message_length': 4 * kibibyte * kibibyte,
  'grpc.max_concurrent_streams': 256,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.enable_channelz': 0,
};

// Otherwise the library also writes to standard error what its errors say.
setLogVerbosity(logVerbosity.NONE);

export function createInternalApi(options: InternalApiOptions): InternalApi {
  const calls = new Calls(options);
  const health = new Health(options);
  const services = [
    [HealthService, health.implement(calls)],
    [SessionsService, calls.implement(SessionsService, sessionsHandlers(options))],
    [ImportService, calls.implement(ImportService, importHandlers(options))],
    [ClusterService, calls.implement(ClusterService, clusterHandlers(options))],
    [MailService, calls.implement(MailService, mailHandlers(options))],
    [PairingService, calls.implement(PairingService, pairingHandlers(options))],
    [RegistrationService, calls.implement(RegistrationService, registrationHandlers(options))],
    [UsersService, calls.implement(UsersService, usersHandlers(options))],
  ] as const;
  const servers: Server[] = [];

  function listen(
    address: string,
    credentials: ServerCredentials,
    interceptors: ServerInterceptor[],
  ): Promise<number> {
    // The largest request is an item that an import brings.
    const largest = importCallBytesMax(options.importing.contentBytesMax);
    const bounds = { ...serverOptions, 'grpc.max_receive_message_length': largest };
    const server = new Server({ ...bounds, interceptors });
    for (const [service, implementation] of services) server.addService(service, implementation);
    servers.push(server);
    return new Promise((resolve, reject) => {
      server.bindAsync(address, credentials, (error, boundPort) =>
        error === null ? resolve(boundPort) : reject(error),
      );
    });
  }

  async function shutDown(server: Server): Promise<void> {
    const finished = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    await Promise.race([finished, sleep(options.clock, options.drainTimeoutMs)]);
    server.forceShutdown();
  }

  return {
    async listenOnSocket(path) {
      await listen(`unix:${path}`, ServerCredentials.createInsecure(), []);
    },
    listenOnPort(host, port, { credentials, token }) {
      const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
      return listen(address, credentials, token === undefined ? [] : [demandToken(token)]);
    },
    async close() {
      health.close();
      await Promise.all(servers.map(shutDown));
    },
  };
}
