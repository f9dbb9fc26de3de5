/** The cluster: `nodes`, `drain`, `undrain`, `rebalance`, `health` and `shards`. */
import { status } from '@grpc/grpc-js';
import { HealthService } from '../../proto/generated/grpc/health/v1/health.ts';
import { ClusterService, type Node } from '../../proto/generated/scriptorium/v1/cluster.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { allPages, type CommandSession } from '../session.ts';
import { counted, duration, formatTable } from '../table.ts';
import { type AddCommands, millisecondsArgument } from './command.ts';

const pollPauseMs = 500;
const waitDefaultMs = 120_000;

export const addNodeCommands: AddCommands = (program, run) => {
  program
    .command('nodes')
    .summary('list the nodes of the cluster')
    .description(
      'List the nodes of the cluster: their state, how many shards each holds, which release it runs.',
    )
    .action(() => run(showNodes))
    .teach(
      'To see whether the cluster is whole, how far a drain or an upgrade is, and which names other commands take; ' +
        'below the list, what the node that was asked has to say of itself, such as writes: degraded. ' +
        'A node that is EXPIRED has lost its lease and will be declared dead; one that is GONE left or died, and ' +
        'stays in the list until it starts again.',
      'nodes',
      'nodes --json | jq -r \'.nodes[] | select(.state == "DRAINING") | .id\'',
    );
  program
    .command('drain')
    .argument('<node>', 'the name of a node, as `nodes` lists it')
    .summary('move all shards away from a node')
    .description('Have a node hand over all its shards and take no more until it is restarted.')
    .option('--wait', 'wait until the node holds no shard')
    .option('--timeout-ms <ms>', 'the longest time to wait', millisecondsArgument, waitDefaultMs)
    .option('--yes', 'even if no other node would take them now: it keeps them until one does')
    .action((node, options) => run((session) => drain(session, node, options)))
    .teach(
      'Before a node is stopped, upgraded or moved: its users are then served by other nodes without an error. ' +
        'A node that is stopped with SIGTERM does the same by itself; a drain lets you see it finish first.',
      'drain notes-2 --wait',
      'undrain notes-2',
    );
  program
    .command('undrain')
    .argument('<node>', 'the name of a node, as `nodes` lists it')
    .summary('undo a drain')
    .description('Let a draining node take shards again.')
    .action((node) =>
      run(async (session) => {
        await session.ask(ClusterService.undrainNode, { node });
        session.answer({ node, draining: false }, `${node} takes shards again.`);
      }),
    )
    .teach(
      'When a drained node is to stay after all. A restarted node takes shards by itself.',
      'undrain notes-2',
    );
  program
    .command('rebalance')
    .summary('bring every shard to its place now')
    .description('Ask every node to bring each shard to its place now.')
    .action(() =>
      run(async (session) => {
        await session.ask(ClusterService.rebalance, {});
        session.answer({ asked: true }, 'Every node was asked; `nodes` shows the result.');
      }),
    )
    .teach(
      'After nodes came or went, when the shards should be spread evenly at once. Nodes do it by themselves, a ' +
        'little at a time, and only once the cluster has been stable for a while.',
      'rebalance',
    );
};

const listNodes = (session: CommandSession) =>
  allPages(
    (pageToken) => session.ask(ClusterService.listNodes, { pageSize: 0, pageToken }),
    ({ nodes }) => nodes,
  );

async function nodesOf(session: CommandSession): Promise<readonly Node[]> {
  const { rows } = await listNodes(session);
  return rows;
}

/** The state as people and scripts read it, such as `LIVE`. */
const stateOf = ({ state }: Node) => state.replace('NODE_STATE_', '');

async function showNodes(session: CommandSession): Promise<void> {
  const { first, rows: nodes } = await listNodes(session);
  const { checks } = first;
  session.answer({ nodes: nodes.map((node) => ({ ...node, state: stateOf(node) })), checks }, () =>
    [nodeTable(nodes), ...failedChecks(checks)].join('\n'),
  );
}

const failedChecks = (checks: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(checks)
    .filter(([, result]) => result !== 'ok')
    .map(([check, result]) => `This node says ${check}: ${result}.`);

function nodeTable(nodes: readonly Node[]): string {
  return formatTable(
    ['NODE', 'STATE', 'ROLES', 'SHARDS', 'LEASE', 'VERSION', 'ADDRESS'],
    nodes.map((node) => [
      node.id,
      stateOf(node),
      node.roles,
      node.shards,
      node.leaseExpiresInMs === 0 ? '' : duration(node.leaseExpiresInMs),
      node.version,
      node.address,
    ]),
  );
}

interface DrainOptions {
  readonly wait?: boolean;
  readonly timeoutMs: number;
  readonly yes?: boolean;
}

async function drain(
  session: CommandSession,
  node: string,
  { wait = false, timeoutMs, yes = false }: DrainOptions,
): Promise<void> {
  await session.ask(ClusterService.drainNode, { node, allowLast: yes }).catch((error) => {
    if (!(error instanceof CommandFailure) || error.code !== status.FAILED_PRECONDITION) throw error;
    throw new CommandFailure(error.exitCode, `${error.message} Use --yes to drain it anyway.`);
  });
  const shards = wait ? await drained(session, node, timeoutMs) : await heldBy(session, node);
  session.answer({ node, draining: true, shards }, () =>
    shards === 0
      ? `${node} holds no shard and takes none.`
      : `${node} hands over ${counted(shards, 'shard')}. \`nodes\` shows the progress; ` +
        `\`undrain ${node}\` undoes it.`,
  );
}

/** Resolves to 0 once the node holds no shard. */
async function drained(session: CommandSession, node: string, timeoutMs: number): Promise<number> {
  const { monotonicMs, sleep } = session.terminal;
  const endMs = monotonicMs() + timeoutMs;
  let reported: number | undefined;
  for (;;) {
    const shards = await heldBy(session, node);
    if (shards === 0) return shards;
    if (shards !== reported) session.progress(`${node} still holds ${counted(shards, 'shard')}`);
    reported = shards;
    if (monotonicMs() >= endMs) {
      throw CommandFailure.unavailable(
        `${node} still holds ${counted(shards, 'shard')} after ${duration(timeoutMs)}. It is still draining.`,
      );
    }
    await sleep(pollPauseMs);
  }
}

async function heldBy(session: CommandSession, node: string): Promise<number> {
  return (await nodesOf(session)).find(({ id }) => id === node)?.shards ?? 0;
}

export const addHealthCommands: AddCommands = (program, run) => {
  program
    .command('health')
    .summary('whether the node serves')
    .description('Ask the node at --address whether it serves. Exit code 69: it does not.')
    .action(() => run(health))
    .teach(
      'In scripts that wait for a node, and to see which part of a node has failed: its database, its lease and ' +
        'shards (host), or its connection to other nodes (transport).',
      'health',
      'health --address notes-2.internal:9091 --json',
    );
};

async function health(session: CommandSession): Promise<number> {
  const { statuses } = await session.ask(HealthService.list, {});
  const all = Object.entries(statuses).map(([service, { status }]) => [service, status] as const);
  const serving = statuses['']?.status === 'SERVING';
  // Names with a dot are services of the API. They serve whenever the node does.
  const checks = all.filter(([service]) => service !== '' && !service.includes('.'));
  session.answer({ serving, checks: Object.fromEntries(checks) }, () =>
    formatTable(['CHECK', 'STATUS'], [...checks, ['the node', serving ? 'SERVING' : 'NOT_SERVING']]),
  );
  return serving ? exitCodes.ok : exitCodes.unavailable;
}

/** How many shards one call lists. */
const pageSize = 1_000;

interface ShardOptions {
  readonly node?: string;
  readonly all?: boolean;
}

export const addShardCommands: AddCommands = (program, run) => {
  program
    .command('shards')
    .summary('show how the shards are distributed')
    .description('Show how many shards each node owns, and how many have no owner.')
    .option('--node <node>', 'only those of this node')
    .option('--all', 'list each shard with its owner and epoch')
    .action((options) => run((session) => showShards(session, options)))
    .teach(
      'To see whether the nodes share the load evenly, or whether shards are without an owner: their users are ' +
        'not served then. Free shards are normal for a moment after a node has died.',
      'shards',
      'shards --node notes-2 --all',
    );
};

async function showShards(session: CommandSession, { node = '', all = false }: ShardOptions): Promise<void> {
  const { first, rows } = await allPages(
    (pageToken) => session.ask(ClusterService.listShards, { node, list: all, pageSize, pageToken }),
    ({ shards }) => shards,
  );
  const { shardCount, freeShards, nodes } = first;
  const document = { shardCount, freeShards, nodes, ...(all && { shards: rows }) };
  session.answer(document, () => {
    const summary = `${counted(shardCount, 'shard')}, ${freeShards} without an owner`;
    const details = all
      ? formatTable(
          ['SHARD', 'NODE', 'EPOCH'],
          rows.map((shard) => [shard.shard, shard.node === '' ? '(nobody)' : shard.node, shard.epoch]),
        )
      : formatTable(
          ['NODE', 'SHARDS'],
          nodes.map((each) => [each.node, each.shards]),
        );
    return details === '' ? summary : `${details}\n\n${summary}`;
  });
}
