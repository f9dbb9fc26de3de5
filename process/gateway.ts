/** The gateway role: the routes this process serves, and the port they are on. */
import type { Registry } from 'prom-client';
import { assistantPolicy, configuredProviders } from '../actors/assistant/policy.ts';
import type { FileStore } from '../actors/files/store.ts';
import type { KeyedTools } from '../actors/identity/keyed-tools.ts';
import { createOutboundHttp } from '../actors/outbound/node-http.ts';
import { pairingOf } from '../actors/pairing/settings.ts';
import type { VerifyBearer } from '../gateway/admission/bearer.ts';
import { createClientAddress } from '../gateway/admission/client-address.ts';
import { createProxyProbe, probeKeyPurpose } from '../gateway/admission/proxy-probe.ts';
import { createRateLimiter } from '../gateway/admission/rate-limit.ts';
import { Assistant, countAnswers } from '../gateway/assistant/assistant.ts';
import { CodeHost } from '../gateway/code-host/code-host.ts';
import { wrongTokens } from '../gateway/dav/program.ts';
import { davArea } from '../gateway/routes/dav.ts';
import { allRoutes } from '../gateway/routes/mod.ts';
import { pairingArea } from '../gateway/routes/pairing.ts';
import { createGateway } from '../gateway/server.ts';
import { createSyncTickets } from '../gateway/sockets/sync-lane/tickets.ts';
import { createSocketTokens } from '../gateway/sockets/tokens.ts';
import { createSubscribe } from '../runtime/events/subscriptions.ts';
import type { Actors } from '../runtime/handles.ts';
import type { Keyring } from '../runtime/keyring.ts';
import type { Readiness } from '../runtime/readiness.ts';
import type { Transport } from '../runtime/transport/transport.ts';
import { connectionsWithin } from './capacity.ts';
import type { ServerOptions } from './server-options.ts';

export interface GatewayParts {
  readonly readiness: Readiness;
  readonly keyedTools: KeyedTools;
  readonly fileStore: FileStore;
  readonly actors: Actors;
  readonly verifyBearer: VerifyBearer;
  readonly registry: Registry;
  readonly transport: Transport;
  readonly keyring: Keyring;
  readonly shardCount: number;
}

/**
 * How long a draining gateway of a cluster waits for clients to close their idle connections. Node.js and the proxies of
 * docs/operations.md, "In front of it", close a connection sooner than that when they do not use it. A lone server does not wait,
 * because its clients have no other server to go to.
 */
const clientsIdleMs = 5_500;

/** Drains with the lifetime. Resolves to the port in use; rejects when it is not available. */
export async function openGateway(options: ServerOptions, parts: GatewayParts): Promise<number> {
  const { config, secrets, version, clock, random, logger, lifetime, tracer } = options;
  const { readiness, transport } = parts;
  const accessKey =
    secrets.accessKey === undefined
      ? undefined
      : { key: secrets.accessKey, davPath: config.gateway.calendar.basePath, ...config.accessKey };
  const socketTokens = createSocketTokens(parts.keyring.derive('socket-token'), clock);
  const syncTickets = createSyncTickets(parts.keyring.derive('sync-ticket'), random);
  const gateway = createGateway({
    ...parts,
    routes: allRoutes({
      ...parts.keyedTools,
      readiness,
      socketTokens,
      syncTickets,
      syncLane: config.gateway.syncLane,
      assistant: assistantOf(options, parts.registry),
      codeHost: new CodeHost({ http: createOutboundHttp({ clock }), apiUrl: config.codeHostApiUrl }),
      files: { store: parts.fileStore, clock, random },
      calendar: {
        basePath: config.gateway.calendar.basePath,
        publicUrl: config.publicUrl,
        failures: createRateLimiter(config.gateway.rateLimits, clock, [wrongTokens]),
      },
      administrationPage: config.gateway.administrationPage,
      version,
      settings: config.accounts,
      cookies: config.cookies,
      refreshLimiter: createRateLimiter(config.gateway.rateLimits, clock),
      filesServerUrl: config.gateway.filesServerUrl,
      captchaUiUrl: config.captchaUiUrl ?? null,
      proxyProbe: createProxyProbe(
        parts.keyring.derive(probeKeyPurpose),
        clock,
        createClientAddress(config.gateway.trustProxy),
      ),
      signInFailed: config.logFailedSignIns
        ? (clientAddress) => logger.warn({ clientAddress }, 'a sign-in failed')
        : undefined,
      pairedForOperator: (subscriptionId) =>
        logger.info({ subscriptionId }, 'an operator has paired a subscription of the assistant'),
    }),
    areas: [davArea(config.gateway.calendar.basePath, config.accounts.calendar), pairingArea],
    config: {
      ...config.gateway,
      accessKey,
      isPublicUrlHttps: config.publicUrl?.startsWith('https://') ?? false,
      connectionsMax: connectionsFor(options),
      drainTimeoutMs: config.drainTimeoutMs,
      drainIdleMs: config.nats === undefined ? 0 : clientsIdleMs,
      sharesPort: config.nats !== undefined,
    },
    socketTokens,
    syncTickets,
    subscribe: createSubscribe({ transport, shardCount: parts.shardCount, clock, random, logger, tracer }),
    clock,
    random,
    logger,
    tracer,
  });
  lifetime.onEnd(() => gateway.drain());
  return gateway.listen(config.host, config.port);
}

/** It has an HTTP client of its own, so that neither it nor the code host takes capacity from mail. */
function assistantOf({ config, secrets, clock }: ServerOptions, registry: Registry): Assistant {
  return new Assistant({
    http: createOutboundHttp({ clock }),
    clock,
    providers: configuredProviders(config.assistant, secrets, pairingOf(config, secrets)?.baseUrl),
    default: assistantPolicy(config.assistant, secrets).default,
    streamsMax: config.assistant.streamsMax,
    ended: countAnswers(registry),
  });
}

/** Warns if the system allows fewer than the settings need. */
function connectionsFor({ config, logger }: ServerOptions): number {
  const { connectionsMax: configured, sockets } = config.gateway;
  const connectionsMax = connectionsWithin(configured);
  if (connectionsMax < sockets.socketsMax) {
    logger.info(
      { connectionsMax, socketsMax: sockets.socketsMax },
      'the limit of open files allows fewer connections than SOCKETS_MAX',
    );
  }
  return connectionsMax;
}
