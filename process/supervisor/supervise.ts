/** The supervisor's work after its server has died (`supervisor.ts` has the protocol). */

import { Registry } from 'prom-client';
import { sleep, systemClock } from '../../runtime/clock.ts';
import { loggable } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/ports.ts';
import { systemRandom } from '../../runtime/random.ts';
import { PostgresStore } from '../../runtime/store/postgres/store.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { Transport } from '../../runtime/transport/transport.ts';
import type { Configuration } from '../config/config.ts';
import { type DataDirectory, openDataDirectory } from '../data-directory.ts';
import { generationOf } from '../database.ts';
import { storeLimitsOf } from '../database-settings.ts';
import { LastRun } from '../last-run.ts';
import { Lifetime } from '../lifetime.ts';
import { createLogger } from '../logger.ts';
import { openKeyring } from '../root-secret.ts';
import type { ServerOptions } from '../server-options.ts';
import { StartError, serverExitCodes } from '../start-error.ts';
import { openTransport } from '../transport.ts';

/** With the database unavailable, waiting longer gains nothing: the lease expires anyway. */
const releaseTimeoutMs = 5_000;

type Options = Omit<ServerOptions, 'version'>;

/** Ends this process with the exit code of the server. */
export async function superviseServer(
  { config, secrets }: Configuration,
  run: () => Promise<number>,
): Promise<void> {
  const clock = systemClock;
  const exitCode = await run();
  const logger = createLogger({ level: config.logLevel, node: config.nodeId });
  const exit = () => process.exit(exitCode);
  const lifetime = new Lifetime({ logger, clock, closeMaxMs: releaseTimeoutMs, exit });
  const options = { config, secrets, clock, random: systemRandom, logger, lifetime };
  const releasing = lifetime
    .open(() => releaseLeaseOfDeadServer(options))
    .catch((error: unknown) => logUnreleased(logger, error));
  await Promise.race([releasing, sleep(clock, releaseTimeoutMs)]);
  await lifetime.end(exitCode);
}

export function logUnreleased(logger: Logger, error: unknown): void {
  if (error instanceof StartError && error.exitCode === serverExitCodes.inUse) {
    logger.info({}, 'another server holds the data directory: the lease of the dead server is left to it');
    return;
  }
  logger.warn({ error: loggable(error) }, 'the lease of the dead server was not released: it ends by itself');
}

/**
 * Releases the lease of the server that last held the data directory, on its behalf, and notifies the others. Needs
 * the lock of the directory, which proves that server dead
 * (docs/decisions/0043-a-dead-process-is-known-by-its-directory.md). Everything that it opens closes with the lifetime.
 *
 * @throws StartError | StoreError
 */
export async function releaseLeaseOfDeadServer(options: Options): Promise<void> {
  const { config, secrets, clock, logger, lifetime } = options;
  const directory = await openDataDirectory(config.dataDirectory);
  lifetime.onEnd(() => directory.release());
  const lastRun = await LastRun.open({ directory, nodeId: config.nodeId, logger });
  // A server that shut down cleanly released its lease itself and removed its `last-run` record, so nothing happens.
  if (!lastRun.hasDeadRun || secrets.databaseUrl === undefined) return;
  const connection = { connectionString: secrets.databaseUrl };
  const store = new PostgresStore({ connection, clock, ...storeLimitsOf(config.database) });
  lifetime.onEnd(() => store.close());
  await releaseAndHint({
    release: () => lastRun.giveUp(store),
    openHints: () => openHints(options, directory, store),
    logger,
  });
}

interface ReleaseParts {
  release(): Promise<void>;
  openHints(): Promise<Pick<Transport, 'hint'>>;
  readonly logger: Logger;
}

/**
 * The hints are opened meanwhile, so that other nodes notice the change soon. They are optional: without one, the other nodes
 * notice the change at their next reconciliation. Settles only when nothing uses the store any more.
 *
 * @throws what `release` throws
 */
export async function releaseAndHint({ release, openHints, logger }: ReleaseParts): Promise<void> {
  const [released, hints] = await Promise.allSettled([release(), openHints()]);
  if (released.status === 'rejected') throw released.reason;
  if (hints.status === 'fulfilled') hints.value.hint({ hint: 'nodes' });
  else logger.warn({ error: loggable(hints.reason) }, 'the other nodes were not notified of the dead server');
}

async function openHints(
  options: Options,
  directory: DataDirectory,
  store: Store,
): Promise<Pick<Transport, 'hint'>> {
  const { secrets, random } = options;
  const keyring = await openKeyring(secrets.secretKey, directory, random);
  const generation = await generationOf(store, random);
  // The supervisor neither calls nor runs actors.
  const resources = { keyring, generation, shardCount: 0 };
  return (await openTransport(options, resources, new Registry())).transport;
}
