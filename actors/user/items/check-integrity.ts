/**
 * Which of the user's items differ from what the client says it has (sync.md 2.1), without fetching ciphertext.
 * Read a part at a time, so that a large account holds nobody up; an item that is saved meanwhile moves to the end
 * and is looked at once more, and the last look counts.
 */
import { z } from 'zod';
import { type Flow, flow, range } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { clientVersions, integrityColumns, type Mismatch, mismatchOf } from '../../collection/integrity.ts';
import { item } from '../../collection/item.ts';
import type { AccountSettings } from '../../services.ts';
import type { Caller } from '../profile.ts';
import { isRefused } from '../refusal.ts';
import {
  authenticate,
  type SignedInReply,
  type SignedInRequest,
  signedInReplySchema,
  signedInRequestSchema,
} from '../signed-in.ts';
import { type IntegrityRequest, integrityFields } from './request.ts';

export interface IntegrityReply {
  readonly mismatches: readonly Mismatch[];
}

const integrityReply = z.custom<IntegrityReply>();
const partItems = 10_000;

export function createIntegrityCommand(accounts: AccountSettings) {
  return flow({
    request: signedInRequestSchema(integrityFields),
    reply: signedInReplySchema(integrityReply),
    run: (steps, request) => checkIntegrity(steps, request, accounts),
  });
}

async function checkIntegrity(
  steps: Flow,
  request: SignedInRequest<IntegrityRequest>,
  accounts: AccountSettings,
): Promise<SignedInReply<IntegrityReply>> {
  const client = clientVersions(request.integrityPayloads ?? []);
  const mismatches = new Map<string, Mismatch>();
  let after = 0;
  for (;;) {
    const part = await readPart(steps, request, accounts, after);
    if (isRefused(part)) return part;
    for (const row of part.rows) {
      const mismatch = mismatchOf(row, client);
      if (mismatch === undefined) mismatches.delete(row.uuid);
      else mismatches.set(row.uuid, mismatch);
    }
    if (part.complete) return { caller: part.caller, reply: { mismatches: [...mismatches.values()] } };
    after = part.upTo;
  }
}

function readPart(
  steps: Flow,
  request: SignedInRequest<IntegrityRequest>,
  accounts: AccountSettings,
  after: number,
) {
  return steps.turn({
    reads: (view) => ({
      live: range(item, {
        after,
        through: view.get(head).position,
        limit: partItems,
        subset: 'live',
        columns: integrityColumns,
      }),
    }),
    turn: (turn, { live }) => {
      const by = authenticate(turn, turn.nowMs, request.credentials, accounts);
      if (isRefused(by)) return by;
      const caller: Caller = by.caller;
      return { caller, rows: live.rows, complete: live.complete, upTo: live.upTo };
    },
  });
}
