/**
 * The commands of administrators for the mailer. Their own `user` actors check the session, and then ask. The fields of the request
 * come unchecked, as the caller's rights have to be decided before anything in the request.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { answerSchema } from '../reply.ts';
import { failures } from './contract.ts';
import { auditOperations, outcomes } from './log-table.ts';
import { fallbackModes, regions, relayKinds, securities } from './relays.ts';

const relayView = z.object({
  id: z.string(),
  kind: z.enum(relayKinds),
  name: z.string(),
  enabled: z.boolean(),
  priority: z.int(),
  from: z.string(),
  rateLimit: z.object({ perMinute: z.int().nullable(), perDay: z.int().nullable() }),
  host: z.string().optional(),
  port: z.int().optional(),
  security: z.enum(securities).optional(),
  username: z.string().nullable().optional(),
  plaintextCredentials: z.boolean().optional(),
  domain: z.string().optional(),
  region: z.enum(regions).optional(),
  credentialsConfigured: z.boolean(),
});

export const relayListView = z.object({
  relays: z.array(relayView),
  fallbackPolicy: z.object({ mode: z.enum(fallbackModes) }),
  configured: z.boolean(),
});

export const queueStates = ['ready', 'leased', 'dead'] as const;

/** Times as ISO text. */
export const queueRecordView = z.object({
  id: z.string(),
  state: z.enum(queueStates),
  source: z.string(),
  attempts: z.int(),
  /** Null where retries never end. */
  maxAttempts: z.int().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  nextAttemptAt: z.string().nullable(),
  leaseExpiresAt: z.string().nullable(),
  lastFailure: z.enum(failures).nullable(),
});

const logEntryView = z.object({
  id: z.string(),
  queueId: z.string().nullable(),
  relayId: z.string(),
  relayKind: z.string(),
  source: z.string(),
  attempt: z.int(),
  outcome: z.enum(outcomes),
  failure: z.enum(failures).nullable(),
  startedAt: z.string(),
  durationMs: z.int(),
});

/** An action of an administrator, without changed values, recipients and contents. */
const auditEntryView = z.object({
  id: z.string(),
  /** The uuid of an administrator, or `operator`. */
  actor: z.string(),
  operation: z.enum(auditOperations),
  /** The id of a relay or of a mail; empty for the list of relays. */
  target: z.string(),
  at: z.string(),
});

const nextCursor = z.string().nullable();
export const auditPageView = z.object({ entries: z.array(auditEntryView), nextCursor });
export const queuePageView = z.object({ records: z.array(queueRecordView), nextCursor });
export const logPageView = z.object({ entries: z.array(logEntryView), nextCursor });

export const testView = z.object({
  accepted: z.boolean(),
  relay: z.object({ id: z.string(), kind: z.enum(relayKinds) }),
  outcome: z.enum(outcomes),
});

const anything = z.unknown().optional();
export const relayListFields = { relays: anything, fallbackPolicy: anything };
export const testFields = { recipient: anything, relayId: anything };
export const queuePageFields = { state: anything, limit: anything, cursor: anything };
export const auditPageFields = { limit: anything, cursor: anything };
export const logPageFields = {
  limit: anything,
  cursor: anything,
  relayId: anything,
  outcome: anything,
};
export const recordFields = { id: z.string() };

/** The uuid of the administrator. */
const by = z.string();
const nothing = z.object({});

const count = z.int();
const healthSchema = z.object({
  /** Whether mail leaves as it should. */
  good: z.boolean(),
  mails: z.object({ ready: count, waiting: count, leased: count, dead: count }),
  /** How long the one that has been ready for longest waits; 0 if none is. */
  oldestReadyMs: z.number(),
});
export type MailHealth = z.infer<typeof healthSchema>;

export const MailAdministration = contract({
  name: 'mailer',
  commands: {
    listRelays: { request: nothing, reply: answerSchema(relayListView) },
    setRelays: { request: z.object({ by, ...relayListFields }), reply: answerSchema(relayListView) },
    test: { request: z.object({ by, ...testFields }), reply: answerSchema(testView) },
    listQueue: { request: z.object(queuePageFields), reply: answerSchema(queuePageView) },
    listLog: { request: z.object(logPageFields), reply: answerSchema(logPageView) },
    listAudit: { request: z.object(auditPageFields), reply: answerSchema(auditPageView) },
    retry: {
      request: z.object({ by, ...recordFields }),
      reply: answerSchema(z.object({ record: queueRecordView })),
    },
    discard: { request: z.object({ by, ...recordFields }), reply: answerSchema(nothing) },
    health: { request: nothing, reply: healthSchema },
  },
});
