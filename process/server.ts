/**
 * The composition: configuration -> resources (directory, keys, database) -> transport -> the roles of this process -> the
 * ports that it listens on. The end goes back the same way.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createKeyedTools } from '../actors/identity/keyed-tools.ts';
import { Instance, instanceId } from '../actors/instance/contract.ts';
import { createVerifyBearer } from '../gateway/admission/bearer.ts';
import { createAdmin } from '../operations/admin.ts';
import { createStatusPage } from '../operations/status-page/page.ts';
import { type Actors, unlessAbsent } from '../runtime/handles.ts';
import { createActors } from '../runtime/host/actors.ts';
import { createClusterOperations, createLookups } from '../runtime/host/cluster-operations.ts';
import { defaultLimits } from '../runtime/host/limits.ts';
import { prometheusShardCount } from '../runtime/host/metrics.ts';
import { NodeIdInUseError } from '../runtime/ownership/lease.ts';
import { createReadiness, type ReadinessCheck } from '../runtime/readiness.ts';
import { runBackupCommand, startBackupSchedule } from './backup/schedule.ts';
import { registerBuildInfo } from './build-info.ts';
import { needing } from './database.ts';
import { provideFileStore } from './files.ts';
import { openGateway } from './gateway.ts';
import { type InternalApiAddresses, openInternalApi } from './internal-api.ts';
import { LastRun } from './last-run.ts';
import { createMailCheck } from './mail-readiness.ts';
import { createGatewayRegistration, createNode, type NodeParts } from './node.ts';
import { openResources } from './resources.ts';
import type { ServerOptions } from './server-options.ts';
import { StartError } from './start-error.ts';
import { openTracer } from './tracing/tracer.ts';
import { openTransport } from './transport.ts';
import { warnOfUnclaimedAdmins } from './unclaimed-admins.ts';

export interface Ports {
  /** Absent: no client connects to this process. */
  readonly port: number | undefined;
  readonly adminPort: number;
  readonly internalApi: InternalApiAddresses;
}

/** Each sample wakes an idle process. Every 10 ms, the library's default, would cost it a third of its CPU. */
const eventLoopSampleMs = 100;

/** Starts everything and resolves to the ports in use. All of it closes with the lifetime. @throws StartError */
export async function startServer(startOptions: ServerOptions, open = openResources): Promise<Ports> {
  const options = { ...startOptions, tracer: await openTracer(startOptions) };
  const { config, clock, random, logger, lifetime } = options;
  const resources = await open(options);
  const { keyring, store, shardCount } = resources;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
  registerBuildInfo(registry, { version: options.version, role: config.role });
  prometheusShardCount(registry, shardCount);
  const { transport, isWakeStreamUp } = await openTransport(options, resources, registry);
  const files = await provideFileStore(options, resources.directory, registry);
  const fileStore = files.store;
  const keyedTools = createKeyedTools(keyring, random);
  const ofRole = await takeRole(
    options,
    { resources, transport, registry, keyedTools, fileStore },
    isWakeStreamUp,
  );

  const { defaultDeadlineMs } = defaultLimits;
  const actors = createActors({ transport, clock, random, defaultDeadlineMs });
  const readiness = createReadiness(
    {
      ...ofRole,
      ...(config.role === 'gateway' && { host: createHostCheck(actors) }),
      transport: () => transport.isConnected,
      mail: createMailCheck(actors, clock, registry),
      files: files.check,
    },
    clock,
    config.readyWithout,
  );
  const verifyBearer = createVerifyBearer(keyedTools.sessionTokens);
  const cluster = createClusterOperations({ store, transport });
  const statusPage = createStatusPage({
    node: config.nodeId,
    version: options.version,
    clock,
    registry,
    readiness,
    cluster,
    actors,
    shardCount,
  });
  const names = [config.adminHost, ...config.adminNames];
  const admin = createAdmin({ registry, readiness, names, statusPage });
  lifetime.onEnd(() => admin.close());
  const adminPort = await opened('ADMIN_PORT', () => admin.listen(config.adminHost, config.adminPort));
  const lookups = createLookups(store);
  await needing('The accounts could not be looked up', () =>
    warnOfUnclaimedAdmins(config.accounts, lookups, logger),
  );
  const internal = {
    cluster,
    lookups,
    actors,
    readiness,
    verifyBearer,
    fileStore,
    importing: {
      contentBytesMax: config.items.contentLimitBytes,
      fileBytesMax: config.files.fileBytesMax,
      relyingPartyId: config.webAuthn.relyingPartyId,
    },
    shardCount,
    workspacesPerEmail: config.accounts.workspacesPerEmail,
    registrationDisabled: config.accounts.registrationDisabled,
    clock,
    random,
    logger,
    registry,
    drainTimeoutMs: config.drainTimeoutMs,
  };
  const { schedule: times } = config.backup;
  if (times !== undefined) {
    const { directory } = resources;
    const schedule = await startBackupSchedule({
      times,
      directory,
      clock,
      logger,
      registry,
      run: runBackupCommand,
    });
    lifetime.onEnd(() => schedule.stop());
  }
  const internalApi = await opened('GRPC_PORT', () => openInternalApi(options, resources, internal));
  if (config.role === 'host') return { port: undefined, adminPort, internalApi };
  const gateway = {
    readiness,
    keyedTools,
    fileStore,
    actors,
    verifyBearer,
    registry,
    transport,
    keyring,
    shardCount,
  };
  const port = await opened('PORT', () => openGateway(options, gateway));
  return { port, adminPort, internalApi };
}

/** Joins the cluster, and returns the checks of readiness. */
async function takeRole(
  options: ServerOptions,
  opened: Omit<NodeParts, 'lastRun'>,
  isWakeStreamUp: () => boolean,
): Promise<Record<string, ReadinessCheck>> {
  const { config, lifetime, logger } = options;
  const { directory, store } = opened.resources;
  const lastRun = await LastRun.open({ directory, nodeId: config.nodeId, logger });
  lifetime.onEnd(() => lastRun.forget());
  const parts = { ...opened, lastRun };
  const join = (member: { start(): Promise<void> }) =>
    joining(async () => {
      await lastRun.giveUp(store);
      await member.start();
    });
  if (config.role === 'gateway') {
    const registration = createGatewayRegistration(options, parts);
    await join(registration);
    lifetime.onEnd(() => registration.end().leave());
    return {
      database: parts.resources.isDatabaseUp,
      clock: () => registration.current.isClockRight,
    };
  }
  const node = createNode(options, parts);
  await join(node);
  lifetime.onEnd(() => node.drain(config.drainTimeoutMs));
  return {
    database: parts.resources.isDatabaseUp,
    host: () => node.isReady,
    clock: () => node.isClockRight,
    // Reads work all the same.
    writes: () => node.areWritesGood || 'degraded',
    // Actors behind other NATS servers are unreachable, and everything else is served.
    peers: () => node.unreachableHostCount === 0 || 'degraded',
    wakeups: () => isWakeStreamUp() || 'degraded',
  };
}

/** @throws StartError */
function joining(start: () => Promise<void>): Promise<void> {
  return needing('The node could not start its work', async () => {
    try {
      await start();
    } catch (error) {
      if (!(error instanceof NodeIdInUseError)) throw error;
      const message = `${capitalised(error.message)}. Stop that one, or give this one another NODE_ID.`;
      throw StartError.inUse(message, error);
    }
  });
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function opened<T>(setting: string, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw StartError.unavailable(`${setting} cannot be listened on: ${(error as Error).message}`, error);
  }
}

/** Less than the time of a check. */
const hostCheckMs = 1_500;

/**
 * Whether a gateway gets answers from the hosts. Without them it can serve no request. In a new database this actor is absent.
 * That counts as an answer, because only a host can say so.
 */
const createHostCheck =
  (actors: Actors): ReadinessCheck =>
  async () => {
    const { ask } = actors.get(Instance, instanceId);
    await unlessAbsent(ask.registration({}, { deadlineMs: hostCheckMs }));
    return true;
  };
