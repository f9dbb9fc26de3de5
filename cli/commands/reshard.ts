/** `reshard`: it calls no node, since none may be running. */
import type { ReshardResult } from '../../process/reshard.ts';
import type { CommandSession } from '../session.ts';
import { type AddCommands, shardCount } from './command.ts';

/** @throws CommandFailure */
export type Reshard = (
  shardCount: number,
  onProgress: (table: string, rows: number) => void,
) => Promise<ReshardResult>;

export const addReshardCommand =
  (reshard: Reshard): AddCommands =>
  (program, run) => {
    program
      .command('reshard')
      .summary('change the number of shards, with all nodes stopped')
      .description('Change the number of shards of the database at DATABASE_URL, while no node runs.')
      .requiredOption('--shards <n>', 'the new number, a power of two', shardCount)
      .action(({ shards }) => run((session) => changeTo(session, shards, reshard)))
      .teach(
        'When a cluster is to have more nodes than its shards allow; about a hundred shards per node spread evenly. ' +
          'An interrupted run resumes with the same number; no node starts until it is done. ' +
          'Afterwards every node needs the new number in SHARD_COUNT.',
        'reshard --shards 4096',
      );
  };

async function changeTo(session: CommandSession, shards: number, reshard: Reshard): Promise<void> {
  const ended = await reshard(shards, (table, rows) =>
    session.progress(`${table}: ${rows.toLocaleString('en')} rows`),
  );
  session.answer({ ...ended, shardCount: shards }, () =>
    ended.outcome === 'unchanged'
      ? `The database already has ${shards} shards.`
      : `The database now has ${shards} shards (${ended.from} before). Start every node with SHARD_COUNT=${shards}.`,
  );
}
