/**
 * Item sync (sync.md 1), in three commands that share one answer:
 *
 * - `sync`, without items: a shared read. What it gives is bounded by the durable head, and when the client's
 *   token is that head, nothing is asked of the database and nothing waits.
 * - `saveItems`: one turn. It gives the collection as it was before its own saves, so the token it answers is the
 *   head after them: whatever another device saves gets a later position.
 * - `saveManyItems`, for uploads too large for one turn: several, in order. Another device may save in between.
 *   The token then is the head after the last turn that began where the one before had ended; what this call saved
 *   behind that comes back once with the next sync, which clients take for what they have.
 *
 * A crash between two turns leaves the earlier ones saved. The client sends everything again, and what was saved
 * is recognised as a repeat.
 */
import { z } from 'zod';
import { type Flow, flow, type Turn } from '../../../runtime/command.ts';
import type { AccountSettings } from '../../services.ts';
import type { Caller } from '../profile.ts';
import { isRefused, type Refused } from '../refusal.ts';
import {
  authenticate,
  type SignedIn,
  type SignedInReply,
  type SignedInRequest,
  signedInCommand,
  signedInReplySchema,
  signedInRequestSchema,
  signedInSharedRead,
} from '../signed-in.ts';
import { batchesOf } from './batches.ts';
import type { SyncReply } from './reply.ts';
import { malformed, type SyncRequest, syncFields } from './request.ts';
import type { ItemSettings } from './settings.ts';
import { answer, begin, type Progress, pagePlans, proceed, storedPlan } from './steps.ts';

/** Built in one place, so its shape is not checked again on the way out. */
const syncReply = z.custom<SyncReply>();

export function createSyncCommands(accounts: AccountSettings, settings: ItemSettings) {
  const sync = signedInSharedRead(accounts, {
    request: syncFields,
    reply: syncReply,
    reads: (view, request) => pagePlans(view, request, settings),
    answer: (view, request, reads) =>
      answer(view.self.id, request, begin(view, request, reads, settings), settings),
  });

  const saveItems = signedInCommand(accounts, {
    request: syncFields,
    reply: syncReply,
    reads: (view, request) => ({
      ...pagePlans(view, request, settings),
      ...storedPlan(view, request, request.items ?? []),
    }),
    turn: (turn, request, reads, by) => {
      const items = request.items ?? [];
      const wrong = malformed(items);
      if (wrong !== undefined) return wrong;
      const batch = {
        request,
        items,
        stored: reads.stored,
        by,
        contentLimitBytes: settings.contentLimitBytes,
      };
      return answer(
        turn.self.id,
        request,
        proceed(turn, batch, begin(turn, request, reads, settings)),
        settings,
      );
    },
  });

  const saveManyItems = flow({
    request: signedInRequestSchema(syncFields),
    reply: signedInReplySchema(syncReply),
    run: (steps, request) => saveInBatches(steps, request, accounts, settings),
  });

  return { sync, saveItems, saveManyItems };
}

async function saveInBatches(
  steps: Flow,
  request: SignedInRequest<SyncRequest>,
  accounts: AccountSettings,
  settings: ItemSettings,
): Promise<SignedInReply<SyncReply>> {
  const { contentLimitBytes } = settings;
  const sent = request.items ?? [];
  const [first = [], ...others] = batchesOf(sent);
  let step = await steps.turn({
    reads: (view) => ({
      ...pagePlans(view, request, settings),
      ...storedPlan(view, request, first),
    }),
    turn: (turn, reads) =>
      signedIn(turn, request, accounts, (by) => {
        const wrong = malformed(sent);
        if (wrong !== undefined) return wrong;
        const batch = { request, items: first, stored: reads.stored, by, contentLimitBytes };
        return proceed(turn, batch, begin(turn, request, reads, settings));
      }),
  });
  for (const items of others) {
    if (isRefused(step)) return step;
    const { progress } = step;
    step = await steps.turn({
      reads: (view) => storedPlan(view, request, items),
      turn: (turn, { stored }) =>
        signedIn(turn, request, accounts, (by) =>
          proceed(turn, { request, items, stored, by, contentLimitBytes }, progress),
        ),
    });
  }
  if (isRefused(step)) return step;
  return { caller: step.caller, reply: answer(steps.self.id, request, step.progress, settings) };
}

type Step =
  | { readonly caller: Caller; readonly progress: Progress }
  | (Refused & { readonly caller?: Caller });

/** Checks the session anew: it may have ended since the last step. */
function signedIn(
  turn: Turn,
  request: SignedInRequest<SyncRequest>,
  accounts: AccountSettings,
  save: (by: SignedIn) => Progress | Refused,
): Step {
  const by = authenticate(turn, turn.nowMs, request.credentials, accounts);
  if (isRefused(by)) return by;
  const result = save(by);
  return isRefused(result) ? { caller: by.caller, ...result } : { caller: by.caller, progress: result };
}
