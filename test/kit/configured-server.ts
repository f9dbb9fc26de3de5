/**
 * The server as its entry composes it, from the environment to its ports, with real password hashes. Only the clock
 * belongs to the test, and the database is a model, so that it starts at once and needs no other program.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { configurationFrom } from '../../process/config/config.ts';
import { openDataDirectory } from '../../process/data-directory.ts';
import type { InternalApiAddresses } from '../../process/internal-api.ts';
import { Lifetime } from '../../process/lifetime.ts';
import { createLogger } from '../../process/logger.ts';
import { startServer } from '../../process/server.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { systemRandom } from '../../runtime/random.ts';
import { drainPromises, FakeClock } from './clock.ts';
import { ModelDatabase, ModelStore } from './model-store/model-store.ts';

export interface ConfiguredServer {
  /** Nobody listens there while it is a host. */
  readonly url: string;
  readonly adminUrl: string;
  readonly internalApi: InternalApiAddresses;
  readonly clock: FakeClock;
  /** The lines of its log so far. */
  readonly log: readonly string[];
  advance(byMs: number): Promise<void>;
  /** Lets time pass until this is done. */
  answered<T>(work: Promise<T>): Promise<T>;
  /** From now on its readiness hears nothing from the database. */
  loseDatabase(): void;
  /** Ends it like an operator and starts it again on its database, with these settings. */
  restart(environment: Environment): Promise<ConfiguredServer>;
}

export type Environment = Readonly<Record<string, string>>;

const anyPort = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' };
const moveMs = 100;

export async function startConfiguredServer(
  t: ExecutionContext,
  environment: Environment = {},
  clock = new FakeClock(),
  database = new ModelDatabase(clock),
): Promise<ConfiguredServer> {
  const { config, secrets } = configurationFrom({ ...anyPort, ...environment });
  const log: string[] = [];
  const logger = createLogger(
    { level: config.logLevel, node: config.nodeId },
    { write: (line) => void log.push(line) },
  );
  const lifetime = new Lifetime({ logger, clock, closeMaxMs: 60_000, exit: () => {} });
  const options = { config, secrets, version: '0', clock, random: systemRandom, logger, lifetime };
  let isDatabaseUp = true;
  const path = mkdtempSync(join(tmpdir(), 'configured-server-'));
  const directory = await openDataDirectory(path);
  const resources = {
    directory,
    keyring: createKeyring(Buffer.alloc(32, 7)),
    store: new ModelStore(database),
    generation: 'test',
    shardCount: 16,
    verify: async () => {},
    isDatabaseUp: async () => isDatabaseUp,
  };
  const end = async () => {
    await moving(clock, lifetime.end(0));
    await directory.release();
    rmSync(path, { recursive: true, force: true });
  };
  t.teardown(end);
  const { port, adminPort, internalApi } = await moving(
    clock,
    startServer(options, async () => resources),
  );
  return {
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    internalApi,
    clock,
    log,
    answered: (work) => moving(clock, work),
    loseDatabase() {
      isDatabaseUp = false;
    },
    async advance(byMs) {
      await clock.advance(byMs);
      await drainPromises();
    },
    async restart(changed) {
      await end();
      return startConfiguredServer(t, changed, clock, database);
    },
  };
}

/** Lets time pass until this is done. */
async function moving<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  await drainPromises();
  while (!isOver) {
    await clock.advance(moveMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return work;
}
