/** `scriptorium reshard`: changes the number of shards of a database that no node serves. */
import { type Resharding, reshard } from '../runtime/store/postgres/reshard.ts';
import { needing } from './database.ts';
import { applyMigrations } from './schema.ts';
import { StartError } from './start-error.ts';

export interface ReshardRequest {
  readonly databaseUrl: string | undefined;
  readonly shardCount: number;
  /** Called with the number of finished rows of a table. */
  readonly onProgress: (table: string, rows: number) => void;
}

/** The outcome: it processed `rows`, or the database had that many shards already. */
export type ReshardResult = Extract<Resharding, { outcome: 'done' | 'unchanged' }>;

/** @throws StartError */
export async function reshardDatabase(request: ReshardRequest): Promise<ReshardResult> {
  const { databaseUrl, shardCount, onProgress } = request;
  if (databaseUrl === undefined) {
    throw StartError.config(
      'DATABASE_URL is not set: a server with an embedded database is one node, whatever its number of shards.',
    );
  }
  const connection = { connectionString: databaseUrl };
  const ended = await needing(
    'The shards could not be changed; nothing is lost by trying again',
    async () => {
      await applyMigrations(connection);
      return reshard({ connection, shardCount, onProgress });
    },
  );
  switch (ended.outcome) {
    case 'done':
    case 'unchanged':
      return ended;
    case 'unused':
      throw StartError.config(
        `No node has ever served this database: start the first one with SHARD_COUNT=${shardCount}.`,
      );
    case 'live':
      throw StartError.inUse(
        `The node "${ended.node}" has a lease for another ${ended.expiresInMs} ms. Stop every node first; the lease of one that died must run out.`,
      );
    case 'begun':
      throw StartError.config(
        `The shards are being changed to ${ended.shardCount}: finish that first, with --shards ${ended.shardCount}.`,
      );
  }
}
