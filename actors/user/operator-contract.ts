/**
 * What operators may ask of a user. These commands check no session, so no client may ever reach them. A lint rule closes this
 * file to the gateway. Only processes of the cluster can use the transport.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { exportProgressSchema } from '../export-file.ts';
import { answerSchema } from '../reply.ts';
import { flagNames } from './admin/flags.ts';
import { auditEventSchema } from './audit/contract.ts';
import { banReasonCharactersMax } from './profile.ts';

const nothing = z.object({});
const overseer = z.enum(['operator', 'administrator']);
const banStatus = z.object({
  email: z.string(),
  workspace: z.string(),
  banned: z.boolean(),
  bannedAtMs: z.number().nullable(),
  banReason: z.string().nullable(),
});

const factorsOn = z.object({
  authenticatorApp: z.boolean(),
  securityKeys: z.int(),
  emailedCodes: z.boolean(),
});

export const UserAdministration = contract({
  name: 'user',
  commands: {
    operatorShow: {
      request: nothing,
      reply: z.object({
        /** `deleted`: by its owner. Its address is free, and the purge removes what is left. */
        state: z.enum(['active', 'deleted']),
        ...banStatus.shape,
        protocolVersion: z.string(),
        createdAtMs: z.number(),
        /** Those that are still good, or can be refreshed. */
        sessions: z.number(),
        /** Rows of the user's own collection and their size, tombstones included. */
        items: z.number(),
        itemBytes: z.number(),
        /** These are absent where a process of an earlier release answers. */
        fileBytes: z.number().optional(),
        /** Null: there is no limit. */
        fileBytesMax: z.number().nullable().optional(),
        /** The last use of any of these sessions. Null: there is none. */
        lastUsedAtMs: z.number().nullable().optional(),
        factors: factorsOn.optional(),
        roles: z.array(z.string()),
        readonly: z.boolean(),
      }),
    },
    /** The sessions do not become "revoked": clients of a revoked session wipe their data, and these should sign in again. */
    operatorEndSessions: { request: nothing, reply: z.object({ ended: z.number() }) },

    /** For an active account. The decision holds until the next one, whatever `ADMIN_EMAILS` lists. */
    operatorSetAdministrator: {
      request: z.object({ administrator: z.boolean() }),
      /** False: the account had this role already. */
      reply: z.object({ changed: z.boolean() }),
    },

    /** This and all below are for an active account. */
    operatorBanStatus: { request: nothing, reply: banStatus },
    operatorSetBan: {
      request: z.object({
        banned: z.boolean(),
        reason: z.string().max(banReasonCharactersMax).nullable(),
        by: overseer,
      }),
      reply: z.object({
        /**
         * `administrator`: an operator cannot ban an administrator, and has to demote them first. `busy`: the account is
         * banning another account at this moment.
         */
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
    /** Null removes the flag. Refusals: 400 for a name or a value that is not allowed. */
    operatorSetFlag: {
      request: z.object({ name: z.string(), value: z.string().nullable(), by: overseer }),
      reply: answerSchema(z.object({ name: z.enum(flagNames), value: z.string().nullable() })),
    },
    /** Turns every second factor off. The reply says which were on. */
    operatorResetFactors: { request: nothing, reply: factorsOn },
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
