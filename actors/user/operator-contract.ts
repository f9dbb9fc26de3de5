/**
 * What operators may ask of a user. No session is checked here, so no client may ever reach these commands:
 * they are kept apart from `User`, and a lint rule closes this file to the gateway. The transport is no way
 * in either: only processes of the cluster can use it.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { exportProgressSchema } from '../export-file.ts';
import { answerSchema } from '../reply.ts';
import { flagNames } from './admin/flags.ts';
import { auditEventSchema } from './audit/event.ts';
import { banReasonCharactersMax } from './ban.ts';

const nothing = z.object({});
const overseer = z.enum(['operator', 'administrator']);
const banStatus = z.object({
  email: z.string(),
  workspace: z.string(),
  banned: z.boolean(),
  bannedAtMs: z.number().nullable(),
  banReason: z.string().nullable(),
});

export const UserAdministration = contract({
  name: 'user',
  commands: {
    operatorShow: {
      request: nothing,
      reply: z.object({
        /** `deleted`: by its owner; what it left is being removed, and its address is free. */
        state: z.enum(['active', 'deleted']),
        email: z.string(),
        workspace: z.string(),
        protocolVersion: z.string(),
        createdAtMs: z.number(),
        /** Those that can still be used or refreshed. */
        sessions: z.number(),
        /** Rows of the user's own collection, tombstones included, and their size. */
        items: z.number(),
        itemBytes: z.number(),
        roles: z.array(z.string()),
        readonly: z.boolean(),
        banned: z.boolean(),
        bannedAtMs: z.number().nullable(),
        banReason: z.string().nullable(),
      }),
    },
    /** They are not remembered as revoked: clients of a revoked session wipe their data, these should sign in again. */
    operatorEndSessions: { request: nothing, reply: z.object({ ended: z.number() }) },

    /** For an active account. It holds until an operator says otherwise, whatever `ADMIN_EMAILS` lists. */
    operatorSetAdministrator: {
      request: z.object({ administrator: z.boolean() }),
      /** Whether this changed anything. */
      reply: z.object({ changed: z.boolean() }),
    },

    /** For an active account, as all below. */
    operatorBanStatus: { request: nothing, reply: banStatus },
    operatorSetBan: {
      request: z.object({
        banned: z.boolean(),
        reason: z.string().max(banReasonCharactersMax).nullable(),
        by: overseer,
      }),
      reply: z.object({
        /** `administrator`: of operators alone, who demote it first. `busy`: it bans somebody itself right now. */
        outcome: z.enum(['set', 'unchanged', 'administrator', 'busy']),
        status: banStatus,
      }),
    },
    operatorFlags: {
      request: nothing,
      reply: z.object({
        flags: z.record(z.string(), z.string().nullable()),
        nextcloudAppPasswordConfigured: z.boolean(),
      }),
    },
    /** A null removes it. Refusals: 400 for a name or a value that is not allowed. */
    operatorSetFlag: {
      request: z.object({ name: z.string(), value: z.string().nullable(), by: overseer }),
      reply: answerSchema(z.object({ name: z.enum(flagNames), value: z.string().nullable() })),
    },
    operatorRevokeCalendarTokens: { request: nothing, reply: z.object({ revoked: z.int() }) },
    /** A piece of the file of an export. The first request has no progress, and the last reply has none. */
    operatorExport: {
      request: z.object({ progress: exportProgressSchema.nullable() }),
      reply: z.object({ text: z.string(), next: exportProgressSchema.nullable() }),
    },
    /** The newest first. */
    operatorAuditTrail: {
      request: z.object({ before: z.int(), limit: z.int() }),
      reply: z.object({ events: z.array(auditEventSchema).readonly(), before: z.int().nullable() }),
    },
  },
});
