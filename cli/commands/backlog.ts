/** `timers` and `tells`: deliveries that wait, and those that failed so often that the server gave up on them. */
import {
  type ActorAddress,
  type ClusterListBacklogResponse as Backlog,
  ClusterService,
  type DeadTell,
  type DeadTimer,
} from '../../proto/generated/scriptorium/v1/cluster.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable, timestamp } from '../table.ts';
import { type AddCommands, rowLimit } from './command.ts';

const limitDefault = 100;

interface BacklogOptions {
  readonly limit: number;
  readonly revive?: string;
}

/** Everything in which the commands for timers and for tells differ. */
interface DeliveryType<Dead> {
  readonly what: string;
  countsOf(backlog: Backlog): { readonly pending: number; readonly dead: number };
  deadOf(backlog: Backlog): readonly Dead[];
  /** The name by which `--revive` takes it. */
  nameOf(dead: Dead): string;
  revive(session: CommandSession, dead: Dead): Promise<unknown>;
  tableOf(dead: readonly Dead[]): string;
}

const pathOf = (actor: ActorAddress | undefined) => (actor === undefined ? '' : `${actor.kind}/${actor.id}`);

const timers: DeliveryType<DeadTimer> = {
  what: 'timer',
  countsOf: ({ pendingTimers, deadTimerCount }) => ({ pending: pendingTimers, dead: deadTimerCount }),
  deadOf: ({ deadTimers }) => deadTimers,
  nameOf: ({ actor, name }) => `${pathOf(actor)}/${name}`,
  revive: (session, { actor, name }) => session.ask(ClusterService.reviveTimer, { actor, name }),
  tableOf: (dead) =>
    formatTable(
      ['ACTOR', 'NAME', 'DUE', 'TRIES'],
      dead.map(({ actor, name, due, attempts }) => [pathOf(actor), name, timestamp(due), attempts]),
    ),
};

const tells: DeliveryType<DeadTell> = {
  what: 'tell',
  countsOf: ({ pendingTells, deadTellCount }) => ({ pending: pendingTells, dead: deadTellCount }),
  deadOf: ({ deadTells }) => deadTells,
  nameOf: ({ tellId }) => tellId,
  revive: (session, { target, tellId }) => session.ask(ClusterService.reviveTell, { target, tellId }),
  tableOf: (dead) =>
    formatTable(
      ['TELL', 'NAME', 'TARGET', 'TRIES'],
      dead.map(({ tellId, name, target, attempts }) => [tellId, name, pathOf(target), attempts]),
    ),
};

export const addBacklogCommands: AddCommands = (program, run) => {
  const add = <Dead>(delivery: DeliveryType<Dead>, example: string, meaning: string) => {
    const { what } = delivery;
    program
      .command(`${what}s`)
      .summary(`list ${what}s that failed, and retry them`)
      .description(
        `Count the ${what}s that wait in the whole cluster, and list those that are dead. ${meaning}`,
      )
      .option('--limit <rows>', 'how many dead ones to list or revive at most', rowLimit, limitDefault)
      .option('--revive <which>', `retry dead ones: \`all\`, or one such as ${example}`)
      .action((options) => run((session) => backlog(session, delivery, options)))
      .teach(
        `When the metric scriptorium_deliveries_total{outcome="dead"} grows. A ${what} is dead after ten attempts that threw; ` +
          'it is kept and blocks nobody. Find the cause in the log of the node, fix it, then revive.',
        `${what}s`,
        `${what}s --revive all`,
        `${what}s --revive ${example}`,
      );
  };
  add(
    timers,
    'user/5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11/purge',
    'A timer makes an actor do something at a time.',
  );
  add(tells, '0b9d3c52-93f0-4a53-8c0b-7a1f35b1a1de', 'A tell is a message that one actor left for another.');
};

async function backlog<Dead>(
  session: CommandSession,
  delivery: DeliveryType<Dead>,
  { limit, revive }: BacklogOptions,
): Promise<void> {
  const found = await session.ask(ClusterService.listBacklog, { limit });
  if (revive === undefined) show(session, delivery, found);
  else await reviveSome(session, delivery, delivery.deadOf(found), revive);
}

function show<Dead>(session: CommandSession, delivery: DeliveryType<Dead>, found: Backlog): void {
  const counts = delivery.countsOf(found);
  const dead = delivery.deadOf(found);
  session.answer({ pending: counts.pending, deadCount: counts.dead, dead }, () => {
    const summary = `${counted(counts.pending, delivery.what)} pending, ${counts.dead} dead`;
    return dead.length === 0 ? summary : `${delivery.tableOf(dead)}\n\n${summary}`;
  });
}

async function reviveSome<Dead>(
  session: CommandSession,
  delivery: DeliveryType<Dead>,
  dead: readonly Dead[],
  which: string,
): Promise<void> {
  const { what, nameOf } = delivery;
  const chosen = which === 'all' ? dead : dead.filter((each) => nameOf(each) === which);
  if (chosen.length === 0 && which !== 'all') {
    throw CommandFailure.refused(`There is no dead ${what} ${which}; \`${what}s\` lists them.`);
  }
  let revived = 0;
  for (const each of chosen) revived += await reviveOne(session, delivery, each);
  session.answer({ revived }, `${counted(revived, what)} will be retried.`);
}

/** Resolves to how many were revived. A refusal counts as none, because someone else may have been faster. */
async function reviveOne<Dead>(
  session: CommandSession,
  delivery: DeliveryType<Dead>,
  dead: Dead,
): Promise<number> {
  try {
    await delivery.revive(session, dead);
    return 1;
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === exitCodes.refused) return 0;
    throw error;
  }
}
