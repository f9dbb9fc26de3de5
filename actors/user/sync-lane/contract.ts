/** What the user's actor is asked for the sync lane (docs/protocol/sockets.md, "The sync lane"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { syncReplyJson, syncReplySchema } from '../../collection/sync-reply.ts';
import { signedIn } from '../../signed-in.ts';

const commandStatusSchema = z.object({
  command: z.object({
    id: z.string(),
    status: z.enum(['unknown', 'accepted', 'committed']),
    digest: z.string().optional(),
  }),
  /** Absent where it cannot be told without the items that were sent. */
  result: syncReplySchema.optional(),
});
export type CommandStatus = z.infer<typeof commandStatusSchema>;

/** What a ticket says, besides whose device it is for. */
const ticketClaimsSchema = z.object({
  sessionUuid: z.string(),
  /** The token pair that it was got with (`pairName`). */
  pair: z.string(),
  /** It is worth nothing in another activation of the actor. */
  activation: z.string(),
  expiresAtMs: z.number(),
});
export type TicketClaims = z.infer<typeof ticketClaimsSchema>;

const commands = {
  /** What a ticket has to say for the session to be let in by it. */
  mintSyncTicket: signedIn({
    access: 'reads',
    fields: z.object({}),
    ok: ticketClaimsSchema.extend({ issuedAtMs: z.number() }),
  }),
  /**
   * Spends a ticket by this attempt, which may come twice. `spent`: by another, expired, or of another activation. `gone`: the
   * session has ended. `stale`: the session lives, and has other tokens now.
   */
  spendSyncTicket: {
    request: ticketClaimsSchema.extend({ nonce: z.string(), attempt: z.string() }),
    reply: z.object({ verdict: z.enum(['good', 'spent', 'gone', 'stale']) }),
  },
  /** Whether the session may run this command over the lane, and from then on nobody else does for a while. */
  holdSyncCommand: signedIn({
    access: 'reads',
    fields: z.object({
      commandId: z.string(),
      hold: z.string(),
      saves: z.boolean(),
      vaults: z.array(z.string()).readonly(),
    }),
    ok: z.object({ verdict: z.enum(['held', 'read-only', 'not-authorized', 'disabled', 'busy']) }),
  }),
  /** The command will not be carried out after all. */
  releaseSyncCommand: {
    request: z.object({ sessionUuid: z.string(), commandId: z.string(), hold: z.string() }),
    reply: z.object({}),
  },
  getSyncCommand: signedIn({
    access: 'reads',
    fields: z.object({ commandId: z.string().max(128), digest: z.string().max(64).nullish() }),
    ok: commandStatusSchema,
    json: ({ command, result }) =>
      result === undefined
        ? JSON.stringify({ command })
        : `{"command":${JSON.stringify(command)},"result":${syncReplyJson(result)}}`,
  }),
};

export const SyncLane = contract({
  name: 'user',
  commands,
  timers: {
    /** The oldest command of its journal is too old, or there are too many. */
    trimSyncJournal: z.null(),
  },
});
