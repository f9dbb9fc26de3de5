/** The resources that every role needs: the data directory, the keys, the database and its fixed facts. */
import type { Keyring } from '../runtime/keyring.ts';
import type { Store } from '../runtime/store/store.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { checkDatabase, needing, openDatabase, openStore, shardCountOf, syncGeneration } from './database.ts';
import { openKeyring } from './root-secret.ts';
import type { ServerOptions } from './server-options.ts';

export interface Resources {
  readonly directory: Pick<DataDirectory, 'path' | 'find' | 'replace' | 'forget'>;
  readonly keyring: Keyring;
  readonly store: Store;
  /** Names this run of sync positions, and with it the cluster on its NATS servers. */
  readonly generation: string;
  /** How many shards this database is divided into; only a reshard changes it. */
  readonly shardCount: number;
  /** Checks again whether this process may serve the database. @throws StartError | StoreError */
  verify(): Promise<void>;
  isDatabaseUp(): false | Promise<boolean>;
}

/** The resources close with the lifetime. @throws StartError */
export async function openResources(options: ServerOptions): Promise<Resources> {
  const { config, secrets, clock, random, logger, lifetime } = options;
  const directory = await openDataDirectory(config.dataDirectory);
  lifetime.onEnd(() => directory.release());
  const keyring = await openKeyring(secrets.secretKey, directory, random);
  const database = await openDatabase(secrets.databaseUrl, directory, { clock, random, logger });
  lifetime.onEnd(() => database.stop());
  const { migrateAtStart } = config;
  const store = await openStore(database, config.database, { migrateAtStart, clock, logger });
  lifetime.onEnd(() => store.close());
  const { nodeId, clusterName } = config;
  const shardCount = await needing('The database cannot be used', () => shardCountOf(store, config, logger));
  const expected = { keyring, shardCount, nodeId, clusterName, isClustered: config.nats !== undefined };
  const verify = () => checkDatabase(store, expected);
  await needing('The database cannot be used', verify);
  const generation = await needing('The database cannot be used', () =>
    syncGeneration(store, directory, random),
  );
  const isDatabaseUp = () => database.isUp() && store.check().then(() => true);
  return { directory, keyring, store, generation, shardCount, verify, isDatabaseUp };
}
