/** The composition: configuration -> lock -> keys -> database -> store -> host -> gateway, and back at the end. */
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import {
  createCaptchaVerifier,
  createKinds,
  createPasswordHasher,
  createSessionTokens,
  createSigninKeys,
  type SessionTokens,
  type SigninKeys,
} from '../actors/mod.ts';
import type { Config, Secrets } from '../config.ts';
import { createAdmin } from '../gateway/admin.ts';
import { createVerifyBearer } from '../gateway/bearer.ts';
import { createReadiness } from '../gateway/readiness.ts';
import { allRoutes } from '../gateway/routes/mod.ts';
import { createGateway } from '../gateway/server.ts';
import { createActors } from '../runtime/actors.ts';
import type { Clock } from '../runtime/clock.ts';

import type { Keyring } from '../runtime/keyring.ts';
import { defaultLimits } from '../runtime/limits.ts';
import { prometheusRuntimeMetrics } from '../runtime/metrics.ts';
import { Node } from '../runtime/node.ts';
import type { Random } from '../runtime/random.ts';
import type { Store } from '../runtime/store/store.ts';
import { InProcessTransport } from '../runtime/transport/in-process.ts';
import { openDataDirectory } from './data-directory.ts';
import { checkDatabase, needing, openDatabase, openStore, syncGeneration } from './database.ts';
import type { Lifetime } from './lifetime.ts';
import { openKeyring } from './root-secret.ts';
import { exitCodes, StartError } from './start-error.ts';

export interface ServerOptions {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly lifetime: Lifetime;
}

export interface Ports {
  readonly port: number;
  readonly adminPort: number;
}

/** Starts everything and resolves to the ports taken. What was opened closes with the lifetime. @throws StartError */
export async function startServer(options: ServerOptions): Promise<Ports> {
  const { config, secrets, clock, random, logger, lifetime } = options;
  const directory = await openDataDirectory(config.dataDirectory);
  lifetime.onEnd(() => directory.release());
  const keyring = await openKeyring(
    { secretKey: secrets.secretKey, secretKeyFile: config.secretKeyFile },
    directory,
    random,
  );
  const database = await openDatabase(secrets.databaseUrl, directory, { clock, random, logger });
  lifetime.onEnd(() => database.stop());
  const store = await openStore(database, logger);
  lifetime.onEnd(() => store.close());
  const expected = { keyring, shardCount: config.shardCount, nodeId: config.nodeId };
  await needing('The database cannot be used', () => checkDatabase(store, expected));
  const generation = await needing('The database cannot be used', () =>
    syncGeneration(store, directory, random),
  );
  const isDatabaseUp = () => database.isUp() && store.verify().then(() => true);
  return serve(options, { keyring, store, generation }, isDatabaseUp);
}

async function serve(
  options: ServerOptions,
  { keyring, store, generation }: { keyring: Keyring; store: Store; generation: string },
  isDatabaseUp: () => false | Promise<boolean>,
): Promise<Ports> {
  const { config, clock, random, logger, lifetime } = options;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const tokens = createSessionTokens(keyring.derive('session-token'));
  const transport = new InProcessTransport();
  const signinKeys = createSigninKeys(keyring);
  const node = createNode(options, store, { registry, transport, tokens, signinKeys, generation });
  await needing('The node could not take up its work', () => node.start());
  lifetime.onEnd(() => node.drain(config.drainTimeoutMs));

  const readiness = createReadiness(
    { database: isDatabaseUp, host: () => node.isReady, transport: () => transport.isConnected },
    clock,
  );
  const { defaultDeadlineMs } = defaultLimits;
  const gateway = createGateway({
    routes: allRoutes({
      readiness,
      tokens,
      signinKeys,
      version: options.version,
      settings: config.accounts,
      cookies: config.cookies,
      filesServerUrl: config.gateway.filesServerUrl,
      captchaUiUrl: config.captchaUiUrl ?? null,
    }),
    actors: createActors({ transport, clock, random, defaultDeadlineMs }),
    config: { ...config.gateway, accessKey: accessKeyOf(options) },
    verifyBearer: createVerifyBearer(tokens),
    clock,
    random,
    logger,
    registry,
    readiness,
  });
  const admin = createAdmin(registry, readiness);
  lifetime.onEnd(() => admin.close());
  const adminPort = await opened('ADMIN_PORT', () => admin.listen(config.adminHost, config.adminPort));
  lifetime.onEnd(() => gateway.drain());
  const port = await opened('PORT', () => gateway.listen(config.host, config.port));
  return { port, adminPort };
}

interface Shared {
  readonly registry: Registry;
  readonly transport: InProcessTransport;
  readonly tokens: SessionTokens;
  readonly signinKeys: SigninKeys;
  readonly generation: string;
}

function createNode(options: ServerOptions, store: Store, shared: Shared): Node {
  const { config, clock, random, logger, lifetime } = options;
  // One core is left for the event loop.
  const hasher = createPasswordHasher({ concurrent: Math.max(1, availableParallelism() - 1), waiting: 256 });
  const captcha =
    config.captchaServerUrl === undefined ? undefined : createCaptchaVerifier(config.captchaServerUrl);
  const kinds = createKinds({
    settings: config.accounts,
    items: { ...config.items, generation: shared.generation },
    tokens: shared.tokens,
    signinKeys: shared.signinKeys,
    hasher,
    captcha,
  });
  const node: Node = new Node({
    kinds,
    store,
    transport: shared.transport,
    clock,
    random,
    logger,
    limits: defaultLimits,
    metrics: prometheusRuntimeMetrics(shared.registry, () => node),
    node: {
      id: config.nodeId,
      address: '',
      roles: 'all',
      version: options.version,
      formats: '1',
    },
    shardCount: config.shardCount,
    leaseMs: config.leaseMs,
    // Our own database is in the directory whose lock this process holds; another one may be shared.
    isPredecessorDead: options.secrets.databaseUrl === undefined,
    onReplaced: () => void lifetime.end(exitCodes.inUse),
  });
  return node;
}

function accessKeyOf({ config, secrets }: ServerOptions) {
  return secrets.accessKey === undefined ? undefined : { key: secrets.accessKey, mode: config.accessKeyMode };
}

async function opened(setting: string, listen: () => Promise<number>): Promise<number> {
  try {
    return await listen();
  } catch (error) {
    throw new StartError(
      `${setting} cannot be listened on: ${(error as Error).message}`,
      exitCodes.unavailable,
      { cause: error },
    );
  }
}
