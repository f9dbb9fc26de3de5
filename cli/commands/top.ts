/** `top`: the actors in memory that use most. It looks twice, and shows what has changed in between. */
import { Option } from 'commander';
import {
  ActorRank,
  type ClusterListTopActorsResponse,
  ClusterService,
  type TopActor,
} from '../../proto/generated/scriptorium/v1/cluster.ts';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { formatTable, size } from '../table.ts';
import { type AddCommands, parseWholeNumber, rowLimit } from './command.ts';

type RankBy = 'bytes' | 'commits' | 'messages' | 'waiting';

const ranks: Readonly<Record<RankBy, ActorRank>> = {
  bytes: ActorRank.UNSPECIFIED,
  commits: ActorRank.TURNS,
  messages: ActorRank.TURNS,
  waiting: ActorRank.WAITING,
};

/** More than are shown, because the actors with most turns so far need not be the busiest now. */
const actorsPerNode = 1_000;

interface Options {
  readonly by: RankBy;
  readonly seconds: number;
  readonly limit: number;
  readonly watch?: boolean;
}

/** Moves the cursor to the top left corner, and clears the screen. */
const clearScreen = '\x1b[H\x1b[2J';

export const addTopCommand: AddCommands = (program, run) => {
  program
    .command('top')
    .addOption(
      new Option('--by <what>', 'what to rank them by')
        .choices(['bytes', 'commits', 'messages', 'waiting'])
        .default('bytes'),
    )
    .option(
      '--seconds <number>',
      'how long to watch, or with --watch from one picture to the next',
      (text) => parseWholeNumber(text, 1, 60),
      2,
    )
    .option('--limit <number>', 'how many to show', rowLimit, 20)
    .option('--watch', 'draw again and again until interrupted; with --json, one document after another')
    .summary('the actors that use most memory, commits or messages')
    .description('Watch the actors in memory on all nodes, and show those that use most.')
    .action((options: Options) => run((session) => top(session, options)))
    .teach(
      'When a node is busy or its memory grows: a single user, a vault or the queue of mail may be the reason. ' +
        'Reads that wait for no turn are not counted.',
      'top',
      'top --by commits --seconds 10',
      'top --watch',
    );
};

interface Used {
  readonly kind: string;
  readonly id: string;
  readonly node: string;
  readonly bytes: number;
  readonly commits: number;
  readonly messages: number;
  readonly waiting: number;
}

/** With `watch` it ends when the user interrupts the process. */
async function top(session: CommandSession, options: Options): Promise<void> {
  const request = { by: ranks[options.by], limit: actorsPerNode };
  let before = await session.ask(ClusterService.listTopActors, request);
  do {
    await session.terminal.sleep(options.seconds * 1_000);
    const now = await session.ask(ClusterService.listTopActors, request);
    await show(session, options, before.actors, now);
    before = now;
  } while (options.watch);
}

async function show(
  session: CommandSession,
  { by, seconds, limit, watch }: Options,
  before: readonly TopActor[],
  { actors, silentNodes }: ClusterListTopActorsResponse,
): Promise<void> {
  const earlier = new Map(before.map((each) => [nameOf(each), each]));
  const most = actors
    .map((actor) => usedOf(actor, earlier.get(nameOf(actor))))
    .toSorted((a, b) => b[by] - a[by] || b.bytes - a.bytes)
    .slice(0, limit);
  const used: (Used & { readonly items: number | null })[] = [];
  for (const each of most) used.push({ ...each, items: await itemsOf(session, each) });
  session.answer({ seconds, by, actors: used, silentNodes }, () => {
    const rows = used.map(({ kind, id, node, bytes, items, commits, messages, waiting }) => {
      return [kind, id, node, size(bytes), items ?? '-', commits, messages, waiting];
    });
    const titles = ['KIND', 'ID', 'NODE', 'HELD', 'ITEMS', 'COMMITS', 'MESSAGES', 'WAITING'];
    const silent = silentNodes.length === 0 ? [] : [`No answer of ${silentNodes.join(', ')}.`];
    const text = [rows.length === 0 ? 'No actor is in memory.' : formatTable(titles, rows), ...silent].join(
      '\n',
    );
    return watch ? `${clearScreen}${text}` : text;
  });
}

/** Null if the actor is no user, or the user cannot answer now. The answer waits for no turn. */
async function itemsOf(session: CommandSession, { kind, id }: Used): Promise<number | null> {
  if (kind !== 'user') return null;
  try {
    return (await session.ask(UsersService.show, { userUuid: id })).items;
  } catch (error) {
    if (error instanceof CommandFailure) return null;
    throw error;
  }
}

const nameOf = ({ actor, node }: TopActor): string => `${node} ${actor?.kind} ${actor?.id}`;

/** An actor without an earlier look has come since, or was not among the first. What it used is then unknown, and counts as 0. */
function usedOf({ actor, node, heldBytes, waiting, ...now }: TopActor, before = now): Used {
  return {
    kind: actor?.kind ?? '',
    id: actor?.id ?? '',
    node,
    bytes: heldBytes,
    commits: now.version - before.version,
    // The count begins anew if the actor has left memory meanwhile, and come back.
    messages: Math.max(0, now.turns - before.turns),
    waiting,
  };
}
