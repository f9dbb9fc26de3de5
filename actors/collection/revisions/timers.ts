/** The timers of a collection's history, which every kind that has one lists among its own. */
import { type Turn, timer } from '../../../runtime/command.ts';
import type { MessageShapes } from '../../../runtime/contract.ts';
import { type CopyPayload, copyPlan, copyRevisions } from './copy.ts';
import { type ForgetPayload, forgetPlan, forgetRevisions } from './forget.ts';
import type { revisionTimerShapes } from './timer-payloads.ts';
import { trimPlan, trimRevisions } from './trim.ts';

/** `isGone` says that something else removes the whole collection, the history included. */
export function revisionTimers(
  shapes: MessageShapes<typeof revisionTimerShapes>,
  isGone: (turn: Turn) => boolean,
) {
  return {
    trimRevisions: timer({
      ...shapes.trimRevisions,
      missed: 'fire-once',
      reads: trimPlan,
      turn: (turn, _payload: null, reads) => {
        if (!isGone(turn)) trimRevisions(turn, reads, shapes.trimRevisions);
      },
    }),
    copyRevisions: timer({
      ...shapes.copyRevisions,
      missed: 'fire-once',
      reads: copyPlan,
      turn: (turn, payload: CopyPayload, reads) => {
        if (!isGone(turn)) copyRevisions(turn, payload, reads, shapes);
      },
    }),
    forgetRevisions: timer({
      ...shapes.forgetRevisions,
      missed: 'fire-once',
      reads: forgetPlan,
      turn: (turn, payload: ForgetPayload, reads) => {
        if (!isGone(turn)) forgetRevisions(turn, payload, reads);
      },
    }),
  };
}
