/** The timers of a vault's collection. */
import { timer } from '../../../runtime/command.ts';
import { revisionTimers } from '../../collection/revisions/timers.ts';
import { Vault } from '../contract.ts';
import { leave, leavePlan } from './notify-moves.ts';

const { timers } = Vault;

export const itemTimers = {
  finalizeOverdueTransfer: timer({
    ...timers.finalizeOverdueTransfer,
    missed: 'fire-once',
    reads: (view, { id }) => leavePlan(view, id),
    turn: (turn, { id }, reads) => leave({ turn, id, reads }),
  }),
  ...revisionTimers(timers, () => false),
};
