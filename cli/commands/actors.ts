/** `where` and `evict`. */
import {
  ClusterService,
  type ClusterFindActorResponse as Found,
} from '../../proto/generated/scriptorium/v1/cluster.ts';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { duration, record, size } from '../table.ts';
import type { AddCommands } from './command.ts';

const kindHelp = 'the kind of the actor, such as `user`';
const idHelp = 'its id: the uuid of a user';

export const addActorCommands: AddCommands = (program, run) => {
  program
    .command('where')
    .argument('<kind>', `${kindHelp}, or the address of a user`)
    .argument('[id]', idHelp)
    .summary('find an actor and what it waits for')
    .description('Show which node an actor lives on, whether it is in memory, and what it waits for.')
    .action((kind, id) => run((session) => whereIs(session, kind, id)))
    .teach(
      'When one user has trouble and others do not: it shows which log to read, and whether the actor is busy, ' +
        'waits for the database, or has timers that failed. Looking does not bring it into memory.',
      'where alice@example.org',
      'where user 5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11',
    );
  program
    .command('evict')
    .argument('<kind>', kindHelp)
    .argument('<id>', idHelp)
    .summary('drop an idle actor from memory')
    .description('Drop an idle actor from memory; the next request reads it from the database again.')
    .action((kind, id) => run((session) => evict(session, kind, id)))
    .teach(
      'To rule out that memory and database differ. Nothing is lost and nobody is disturbed: an ' +
        'actor with work to do stays.',
      'evict user 5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11',
    );
};

const phaseOf = ({ phase }: Found) => phase.replace('ACTOR_PHASE_', '');
const waitOf = ({ waitsFor }: Found) => waitsFor.replace('ACTOR_WAITS_FOR_', '');

async function whereIs(session: CommandSession, kind: string, id: string | undefined): Promise<number> {
  if (id !== undefined) return where(session, kind, id);
  if (!kind.includes('@')) throw CommandFailure.usage('Name a kind and an id, or the address of a user.');
  const { userUuid } = await session.ask(UsersService.find, { email: kind, workspace: '' });
  return where(session, 'user', userUuid);
}

async function where(session: CommandSession, kind: string, id: string): Promise<number> {
  const actor = { kind, id };
  const found = await session.ask(ClusterService.findActor, { actor });
  const exists = found.version !== undefined;
  const document = {
    actor,
    exists,
    ...found,
    phase: phaseOf(found),
    waitsFor: waitOf(found),
    version: found.version ?? null,
  };
  session.answer(document, () =>
    exists
      ? recordOf(found)
      : `There is no such actor. It would live in shard ${found.shard} on ${found.node}.`,
  );
  return exists ? exitCodes.ok : exitCodes.refused;
}

function recordOf(found: Found): string {
  const isInMemory = phaseOf(found) !== 'PASSIVE';
  return record([
    ['node', found.node],
    ['incarnation', found.incarnation],
    ['shard', found.shard],
    ['epoch', found.epoch],
    ['in memory', isInMemory ? `${phaseOf(found).toLowerCase()}, idle for ${duration(found.idleMs)}` : 'no'],
    ['waits for', waitOf(found).toLowerCase()],
    ['messages waiting', found.waiting],
    ['outcomes at the gate', found.atGate],
    ['held in memory', size(found.heldBytes)],
    ['version', found.version ?? ''],
    ['timers', `${found.pendingTimers} pending, ${found.deadTimers} dead`],
  ]);
}

async function evict(session: CommandSession, kind: string, id: string): Promise<void> {
  const actor = { kind, id };
  const { evicted } = await session.ask(ClusterService.evictActor, { actor });
  if (!evicted) throw CommandFailure.refused('It is not in memory, or has work to do: nothing was dropped.');
  session.answer({ actor, evicted }, 'It is no longer in memory.');
}
