/**
 * Item sync (docs/protocol/sync.md): one command, three ways to run it that share one answer.
 *
 * - without items, a shared read. What it gives is bounded by the durable head, and when the client's
 *   token is that head, nothing is asked of the database and nothing waits.
 * - with what fits one turn, one turn. It gives the collection as it was before its own saves, so the token it answers is the
 *   head after them: anything another device saves gets a later position.
 * - with more than that, several turns, in order. Another device may save in between.
 *   The token then is the head after the last turn that began where the one before had ended; what this call saved
 *   behind that comes back once with the next sync, which clients take for what they have.
 *
 * A crash between two turns leaves the earlier ones saved. The client sends everything again, and what was saved
 * is recognised as a repeat.
 */
import { choice, type Turn } from '../../../runtime/command.ts';
import { batchesOf, fitsOneTurn } from '../../collection/batches.ts';
import { head } from '../../collection/head.ts';
import type { ClientItem } from '../../collection/item-fields.ts';
import { malformed } from '../../collection/sync-request.ts';
import {
  answer,
  type Batch,
  begin,
  type Member,
  type Progress,
  pagePlans,
  proceed,
  storedPlan,
} from '../../collection/sync-steps.ts';
import { isRefused, type Refused } from '../../reply.ts';
import { ItemSettings } from '../../settings.ts';
import { User } from '../contract.ts';
import { itemsChanged } from '../events.ts';
import { type SignedIn, signedInRead, signedInTurn, signedInWorkflow } from '../signed-in.ts';

const { sync: shape } = User.commands;
const none: readonly ClientItem[] = [];

const read = signedInRead({
  ...shape,
  reads: (view, request) => pagePlans(view, request),
  answer: (view, request, reads) =>
    answer(view.self.id, request, begin(view, request, reads), view.use(ItemSettings)),
});

const saveInOneTurn = signedInTurn({
  ...shape,
  reads: (view, request) => ({
    ...pagePlans(view, request),
    ...storedPlan(view, request, request.items ?? none),
  }),
  turn: (turn, request, reads, by) => {
    const items = request.items ?? none;
    const wrong = malformed(items);
    if (wrong !== undefined) return wrong;
    const batch = { request, items, stored: reads.stored, by: memberOf(turn, by) };
    const progress = save(turn, batch, begin(turn, request, reads));
    if (isRefused(progress)) return progress;
    return answer(turn.self.id, request, progress, turn.use(ItemSettings));
  },
});

const saveInBatches = signedInWorkflow({
  ...shape,
  run: async (workflow, request) => {
    const sent = request.items ?? none;
    const [first = none, ...others] = batchesOf(sent, workflow.use(ItemSettings).turnLimits);
    let progress = await workflow.turn({
      reads: (view) => ({ ...pagePlans(view, request), ...storedPlan(view, request, first) }),
      turn: (turn, reads, by) => {
        const batch = { request, items: first, stored: reads.stored, by: memberOf(turn, by) };
        return malformed(sent) ?? save(turn, batch, begin(turn, request, reads));
      },
    });
    for (const items of others) {
      const before: Progress = progress;
      progress = await workflow.turn({
        reads: (view) => storedPlan(view, request, items, before.roomBytes),
        turn: (turn, { stored }, by) =>
          save(turn, { request, items, stored, by: memberOf(turn, by) }, before),
      });
    }
    return answer(workflow.self.id, request, progress, workflow.use(ItemSettings));
  },
});

/** What brings nothing must wait for nothing. */
export const sync = choice({
  ...shape,
  choose: ({ items }, by) => {
    if (!items || items.length === 0) return read;
    return fitsOneTurn(items, by.use(ItemSettings).turnLimits) ? saveInOneTurn : saveInBatches;
  },
});

function memberOf(turn: Turn, { session, readonly }: SignedIn): Member {
  return { userUuid: turn.self.id, sessionUuid: session.uuid, readOnly: readonly };
}

/** Saves, and tells the user's other devices. */
function save(turn: Turn, batch: Omit<Batch, 'timers'>, progress: Progress): Progress | Refused {
  const before = turn.get(head);
  const after = proceed(turn, { ...batch, timers: User.timers }, progress);
  if (isRefused(after)) return after;
  if (after.head !== before) {
    turn.publish(User, itemsChanged(turn.self.id, turn.nowMicros, batch.by.sessionUuid));
  }
  return after;
}
