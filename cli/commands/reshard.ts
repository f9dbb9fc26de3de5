/** `reshard`: the one command that asks no node, for none may run. */
import type { Resharded } from '../../process/reshard.ts';
import type { Session } from '../session.ts';
import { type AddCommands, teach } from './command.ts';
import { shardCount } from './options.ts';

/** @throws Failure */
export type Reshard = (
  shardCount: number,
  onProgress: (table: string, rows: number) => void,
) => Promise<Resharded>;

export const addReshardCommand =
  (reshard: Reshard): AddCommands =>
  (program, run) => {
    teach(
      program
        .command('reshard')
        .summary('change the number of shards, with all nodes stopped')
        .description('Change the number of shards of the database at DATABASE_URL, while no node runs.')
        .requiredOption('--shards <n>', 'the new number, a power of two', shardCount)
        .action(({ shards }) => run((session) => changeTo(session, shards, reshard))),
      'When a cluster is to have more nodes than it has shards for; a hundred shards for each node spread well. ' +
        'It goes on where it was interrupted when it is asked for the same number again; until it is done, no ' +
        'node starts. Afterwards every node needs SHARD_COUNT to say the new number.',
      'reshard --shards 4096',
    );
  };

async function changeTo(session: Session, shards: number, reshard: Reshard): Promise<void> {
  const ended = await reshard(shards, (table, rows) =>
    session.progress(`${table}: ${rows.toLocaleString('en')} rows`),
  );
  session.answer({ ...ended, shardCount: shards }, () =>
    ended.outcome === 'unchanged'
      ? `The database has ${shards} shards already.`
      : `The database has ${shards} shards now (${ended.from} before). Start every node with SHARD_COUNT=${shards}.`,
  );
}
