/** The sync lane as the user's actor serves it (docs/protocol/sockets.md, "The sync lane"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { syncReplyJson, syncReplySchema } from '../../collection/sync-contract.ts';
import { reads } from '../../signed-in.ts';

const commandStatusSchema = z.object({
  command: z.object({
    id: z.string(),
    status: z.enum(['unknown', 'accepted', 'committed']),
    digest: z.string().optional(),
  }),
  /** Absent: it cannot be told without the items that the client sent. */
  result: syncReplySchema.optional(),
});
export type CommandStatus = z.infer<typeof commandStatusSchema>;

/** The content of a ticket, besides the user. */
const ticketClaimsSchema = z.object({
  sessionUuid: z.string(),
  /** The token pair of the device that asked for it (`pairName`). */
  pair: z.string(),
  /** No other activation of the actor accepts the ticket. */
  activation: z.string(),
  expiresAtMs: z.number(),
});
export type TicketClaims = z.infer<typeof ticketClaimsSchema>;

export const SyncLane = contract({
  name: 'user',
  commands: {
    /** The content of a new ticket for this session. */
    mintSyncTicket: reads({ ok: ticketClaimsSchema.extend({ issuedAtMs: z.number() }) }),
    /**
     * Redeems a ticket for this attempt, which may come twice. `spent`: another attempt has it, it has expired, or it is of
     * another activation. `gone`: the session has ended. `stale`: the session has other tokens now.
     *
     * While the session lives, `gateway` gets the user's events from then on, as by `openSocket`. A host of an earlier release
     * does not do that, and names no `host`.
     */
    spendSyncTicket: {
      request: ticketClaimsSchema.extend({
        nonce: z.string(),
        attempt: z.string(),
        gateway: z.string().optional(),
      }),
      reply: z.object({
        verdict: z.enum(['good', 'spent', 'gone', 'stale']),
        host: z.string().optional(),
        endsInMs: z.number().optional(),
      }),
    },
    /** Decides whether the session may run this command over the lane, and then keeps other attempts away for a while. */
    holdSyncCommand: reads({
      fields: z.object({
        commandId: z.string(),
        hold: z.string(),
        saves: z.boolean(),
        vaults: z.array(z.string()).readonly(),
      }),
      ok: z.object({ verdict: z.enum(['held', 'read-only', 'not-authorized', 'disabled', 'busy']) }),
    }),
    /** The command will not run after all. */
    releaseSyncCommand: {
      request: z.object({ sessionUuid: z.string(), commandId: z.string(), hold: z.string() }),
      reply: z.object({}),
    },
    getSyncCommand: reads({
      fields: z.object({ commandId: z.string().max(128), digest: z.string().max(64).nullish() }),
      ok: commandStatusSchema,
      json: ({ command, result }) =>
        result === undefined
          ? JSON.stringify({ command })
          : `{"command":${JSON.stringify(command)},"result":${syncReplyJson(result)}}`,
    }),
  },
  timers: {
    /** The oldest commands of the journal are too old, or there are too many. */
    trimSyncJournal: z.null(),
  },
});
