/** The commands and timers of the `user` actor for the history of its items. */
import { keys, type Turn, timer } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { copyPlan, copyRevisions } from '../../collection/revisions/copy.ts';
import { forgetPlan, forgetRevisions } from '../../collection/revisions/forget.ts';
import {
  given,
  historyOf,
  historyPlan,
  listed,
  revisionIn,
  revisionKey,
} from '../../collection/revisions/read.ts';
import { revision } from '../../collection/revisions/table.ts';
import { trimPlan, trimRevisions } from '../../collection/revisions/trim.ts';
import { refuse } from '../../reply.ts';
import { User } from '../contract.ts';
import { profileSlice } from '../profile.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';

const notUuids = refuse(400, 'That is not the uuid of an item or a revision.');
const unknown = refuse(404, 'Revision not found.');

const listRevisions = signedInRead({
  ...User.commands.listRevisions,
  reads: ({ self }, { itemUuid }) => ({
    rows: isUuid(itemUuid) ? historyPlan(self.id, itemUuid) : keys(revision, []),
  }),
  answer: (view, { itemUuid }, { rows }) => {
    if (!isUuid(itemUuid)) return notUuids;
    const history = historyOf(view, view.self.id, itemUuid, rows);
    return { revisions: history.map((row) => listed(row, itemUuid)) };
  },
});

interface Named {
  readonly itemUuid: string;
  readonly id: string;
}

const areUuids = ({ itemUuid, id }: Named): boolean => isUuid(itemUuid) && isUuid(id);

const keysOf = (collection: string, named: Named) =>
  areUuids(named) ? [revisionKey(collection, named.itemUuid, named.id)] : [];

const getRevision = signedInRead({
  ...User.commands.getRevision,
  reads: ({ self }, named) => ({ rows: keys(revision, keysOf(self.id, named)) }),
  answer: ({ self }, named, { rows }) => {
    if (!areUuids(named)) return notUuids;
    const { itemUuid, id } = named;
    const row = revisionIn(rows, revisionKey(self.id, itemUuid, id), id);
    return row === undefined ? unknown : { revision: given(row, itemUuid) };
  },
});

const deleteRevision = signedInTurn({
  ...User.commands.deleteRevision,
  reads: ({ self }, named) => ({ rows: keys(revision, keysOf(self.id, named), 0) }),
  turn: (turn, named, { rows }) => {
    if (!areUuids(named)) return notUuids;
    const { itemUuid, id } = named;
    const key = revisionKey(turn.self.id, itemUuid, id);
    if (revisionIn(rows, key, id) !== undefined) turn.remove(revision, key);
    return { message: 'The revision is deleted.' };
  },
});

export const revisionCommands = { listRevisions, getRevision, deleteRevision };

/** Of a deleted account the purge takes everything. */
const isDeleted = (turn: Turn): boolean => turn.get(profileSlice).state === 'deleted';

export const revisionTimers = {
  trimRevisions: timer({
    ...User.timers.trimRevisions,
    missed: 'fire-once',
    reads: trimPlan,
    turn: (turn, _payload, reads) => {
      if (!isDeleted(turn)) trimRevisions(turn, reads, User.timers.trimRevisions);
    },
  }),
  copyRevisions: timer({
    ...User.timers.copyRevisions,
    missed: 'fire-once',
    reads: copyPlan,
    turn: (turn, payload, reads) => {
      if (!isDeleted(turn)) copyRevisions(turn, payload, reads, User.timers);
    },
  }),
  forgetRevisions: timer({
    ...User.timers.forgetRevisions,
    missed: 'fire-once',
    reads: forgetPlan,
    turn: (turn, payload, reads) => {
      if (!isDeleted(turn)) forgetRevisions(turn, payload, reads);
    },
  }),
};
