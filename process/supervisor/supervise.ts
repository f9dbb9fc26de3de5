/** The supervisor's work after its server has died (`supervisor.ts` has the protocol). */

import { Registry } from 'prom-client';
import { sleep, systemClock } from '../../runtime/clock.ts';
import { loggable } from '../../runtime/errors.ts';
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
import { openTransport } from '../transport.ts';

/** A start that waits for an unavailable database would be no sooner than the lease. */
const giveUpMostMs = 5_000;

/** Ends this process with the exit code of the server. */
export async function superviseServer(
  { config, secrets }: Configuration,
  run: () => Promise<number>,
): Promise<void> {
  const clock = systemClock;
  const exitCode = await run();
  const logger = createLogger({ level: config.logLevel, node: config.nodeId });
  const exit = () => process.exit(exitCode);
  const lifetime = new Lifetime({ logger, clock, closeMostMs: giveUpMostMs, exit });
  const options = { config, secrets, clock, random: systemRandom, logger, lifetime };
  const givingUp = lifetime
    .open(() => giveUpDeadServer(options))
    .catch((error: unknown) => {
      logger.warn({ error: loggable(error) }, 'the lease of the dead server ends by itself');
    });
  // A server that shut down cleanly has given up its lease itself, and left no name.
  await Promise.race([givingUp, sleep(clock, giveUpMostMs)]);
  await lifetime.end(exitCode);
}

/**
 * Gives up the lease of the server that last held the data directory, on its behalf, and notifies the others. Needs
 * the lock of the directory, which proves that server dead
 * (docs/decisions/0043-a-dead-process-is-known-by-its-directory.md).
 */
type Options = Omit<ServerOptions, 'version'>;

/** Everything that it opens closes with the lifetime. @throws StartError | StoreError */
export async function giveUpDeadServer(options: Options): Promise<void> {
  const { config, secrets, clock, logger, lifetime } = options;
  const directory = await openDataDirectory(config.dataDirectory);
  lifetime.onEnd(() => directory.release());
  const lastRun = await LastRun.open({ directory, nodeId: config.nodeId, logger });
  if (!lastRun.hasFound || secrets.databaseUrl === undefined) return;
  const connection = { connectionString: secrets.databaseUrl };
  const store = new PostgresStore({ connection, clock, ...storeLimitsOf(config.database) });
  lifetime.onEnd(() => store.close());
  const [hints] = await Promise.all([openHints(options, directory, store), lastRun.giveUp(store)]);
  hints.hint({ hint: 'nodes' });
}

/** Without a hint, the others find it at their next reconciliation. */
async function openHints(
  options: Options,
  directory: DataDirectory,
  store: Store,
): Promise<Pick<Transport, 'hint'>> {
  const { secrets, random } = options;
  const keyring = await openKeyring(secrets.secretKey, directory, random);
  const generation = await generationOf(store, random);
  // It calls no actor and serves none.
  const resources = { keyring, generation, shardCount: 0 };
  return (await openTransport(options, resources, new Registry())).transport;
}
