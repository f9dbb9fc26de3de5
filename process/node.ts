/** The host role: the kinds of actors that this process runs, its part in the cluster, and the lease of a gateway-only process. */
import { availableParallelism, hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { assistantPolicy } from '../actors/assistant/policy.ts';
import type { FileStore } from '../actors/files/store.ts';
import { createCalendarTokenHasher, createProvenTokens } from '../actors/identity/calendar-tokens.ts';
import { createCaptchaVerifier, noCaptcha } from '../actors/identity/captcha.ts';
import { createImportedPasswords } from '../actors/identity/imported-password.ts';
import type { KeyedTools } from '../actors/identity/keyed-tools.ts';
import { rememberLastHash } from '../actors/identity/last-hash.ts';
import { createPasswordHasher, type PasswordHasher } from '../actors/identity/password-hasher.ts';
import { kinds } from '../actors/kinds.ts';
import { unknownDiskSpace } from '../actors/mailer/capacity.ts';
import { countedMailSender, createMailSender } from '../actors/mailer/send.ts';
import { createMessengers } from '../actors/messengers/http-messengers.ts';
import { createOutboundHttp } from '../actors/outbound/node-http.ts';
import { countedPairing, pairingTools } from '../actors/pairing/oauth.ts';
import { createRefreshWaits } from '../actors/pairing/waiting.ts';
import { providedOf } from '../actors/provided.ts';
import type { QueueLimits } from '../actors/queue.ts';
import { messageOf } from '../runtime/errors.ts';
import { Incarnations } from '../runtime/host/incarnations.ts';
import { prometheusRuntimeMetrics } from '../runtime/host/metrics.ts';
import { Node } from '../runtime/host/node.ts';
import { Lease } from '../runtime/ownership/lease.ts';
import type { NodeRow } from '../runtime/store/store.ts';
import type { Transport } from '../runtime/transport/transport.ts';
import { hashesAtOnce } from './capacity.ts';
import { inProcessAddress } from './database.ts';
import { runtimeLimitsOf } from './database-settings.ts';
import type { LastRun } from './last-run.ts';
import { watchMailDiskSpace } from './mail-disk-space.ts';
import type { Resources } from './resources.ts';
import type { ServerOptions } from './server-options.ts';
import { StartError, serverExitCodes } from './start-error.ts';

export interface NodeParts {
  readonly resources: Resources;
  readonly transport: Transport;
  readonly registry: Registry;
  readonly keyedTools: KeyedTools;
  readonly fileStore: FileStore;
  readonly lastRun: LastRun;
}

export function createNode(options: ServerOptions, parts: NodeParts): Node {
  const { config, secrets, clock, random, logger, tracer } = options;
  const { resources, transport, registry } = parts;
  const hashing = {
    concurrent: hashesAtOnce(availableParallelism()),
    waiting: 256,
    // Enough for an office behind one address. A full queue of this size takes about a second.
    waitingPerKey: 64,
  };
  const hasher = passwordHasherOf(config, hashing);
  const isEmbedded = secrets.databaseUrl === undefined;
  if (!isEmbedded) {
    logger.info(
      'free disk space for mail is not checked, because the database is external: keep 64 MiB free on its disk',
    );
  }
  const { captchaServerUrl } = config;
  const http = createOutboundHttp({ clock });
  const captcha = captchaServerUrl === undefined ? noCaptcha : createCaptchaVerifier(captchaServerUrl, http);
  const node: Node = new Node({
    kinds,
    provided: providedOf({
      ...parts.keyedTools,
      accounts: config.accounts,
      items: { ...config.items, generation: resources.generation },
      vaults: config.vaults,
      files: config.files,
      fileStore: parts.fileStore,
      passwordHasher: hasher,
      importedPasswords: createImportedPasswords(),
      captcha,
      webAuthn: config.webAuthn,
      calendarTokenHasher: createCalendarTokenHasher(hashing),
      provenTokens: createProvenTokens(),
      mail: {
        ...config.mail,
        password: secrets.smtpPassword ?? secrets.smtpPass,
        publicUrl: config.publicUrl,
      },
      mailSender: countedMailSender(createMailSender({ clock, http }), registry),
      mailDiskSpace: isEmbedded ? watchMailDiskSpace(resources.directory.path, clock) : unknownDiskSpace,
      assistant: assistantPolicy(config.assistant, secrets),
      pairing: countedPairing(pairingTools(config, secrets, http), registry),
      refreshWaits: createRefreshWaits(clock),
      messengers: createMessengers({ http, clock, credentials: { ...config.messengers, ...secrets } }),
    }),
    store: resources.store,
    transport,
    clock,
    random,
    logger,
    tracer,
    limits: runtimeLimitsOf(config.database),
    metrics: prometheusRuntimeMetrics(registry, () => node),
    node: rowOf(options),
    shardCount: resources.shardCount,
    leaseMs: config.leaseMs,
    clockSkewMaxMs: config.clockSkewMaxMs,
    // The embedded database is in the directory whose lock this process holds.
    // With an external database, another process may hold this node id.
    isPredecessorDead: isEmbedded,
    remember: (incarnation) => parts.lastRun.remember(incarnation),
    verify: resources.verify,
    onRejected: (error) => endRejected(options, error),
  });
  return node;
}

/** A gateway-only process has a row like a host's, so that operators can see it. Nothing depends on its lease. */
export function createGatewayRegistration(
  options: ServerOptions,
  { resources, lastRun }: Pick<NodeParts, 'resources' | 'lastRun'>,
) {
  const { config, clock, random, logger } = options;
  return new Incarnations({
    clock,
    random,
    logger,
    create: (incarnation, onLost) =>
      new Lease({
        store: resources.store,
        clock,
        node: { ...rowOf(options), incarnation },
        leaseMs: config.leaseMs,
        clockSkewMaxMs: config.clockSkewMaxMs,
        logger,
        isPredecessorDead: false,
        remember: () => lastRun.remember(incarnation),
        verify: resources.verify,
        onLost,
      }),
    onRejected: (error) => endRejected(options, error),
  });
}

function rowOf({ config, version }: ServerOptions): Omit<NodeRow, 'incarnation'> {
  const address = config.nats === undefined ? inProcessAddress : hostname();
  return { id: config.nodeId, address, roles: config.role, version, formats: '1' };
}

function endRejected({ logger, lifetime }: ServerOptions, error: unknown): void {
  logger.fatal({ reason: messageOf(error) }, 'registration was rejected: shutting down');
  void lifetime.end(error instanceof StartError ? error.exitCode : serverExitCodes.inUse);
}

function passwordHasherOf({ accounts }: ServerOptions['config'], limits: QueueLimits): PasswordHasher {
  const hasher = createPasswordHasher(limits);
  return accounts.endToEndTesting ? rememberLastHash(hasher) : hasher;
}
