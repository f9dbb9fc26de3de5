/** `shards`. */
import { ClusterService } from '../../proto/generated/scriptorium/v1/cluster.ts';
import { allPages, type Session } from '../session.ts';
import { counted, table } from '../table.ts';
import { type AddCommands, teach } from './command.ts';

const pageSize = 1_000;

interface ShardOptions {
  readonly node?: string;
  readonly all?: boolean;
}

export const addShardCommands: AddCommands = (program, run) => {
  teach(
    program
      .command('shards')
      .summary('show how the shards are distributed')
      .description('Show how many shards each node owns, and how many have no owner.')
      .option('--node <node>', 'only those of this node')
      .option('--all', 'list each shard with its owner and epoch')
      .action((options) => run((session) => showShards(session, options))),
    'To see whether the nodes share the load evenly, or whether shards are without an owner: their users are ' +
      'not served then. Free shards are normal for a moment after a node has died.',
    'shards',
    'shards --node notes-2 --all',
  );
};

async function showShards(session: Session, { node = '', all = false }: ShardOptions): Promise<void> {
  const { first, rows } = await allPages(
    (pageToken) => session.ask(ClusterService.listShards, { node, list: all, pageSize, pageToken }),
    ({ shards }) => shards,
  );
  const { shardCount, freeShards, nodes } = first;
  const document = { shardCount, freeShards, nodes, ...(all && { shards: rows }) };
  session.answer(document, () => {
    const summary = `${counted(shardCount, 'shard')}, ${freeShards} without an owner`;
    const shown = all
      ? table(
          ['SHARD', 'NODE', 'EPOCH'],
          rows.map((shard) => [shard.shard, shard.node === '' ? '(nobody)' : shard.node, shard.epoch]),
        )
      : table(
          ['NODE', 'SHARDS'],
          nodes.map((each) => [each.node, each.shards]),
        );
    return shown === '' ? summary : `${shown}\n\n${summary}`;
  });
}
