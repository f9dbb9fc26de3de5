/**
 * The `mailer` kind: one actor, through which every mail of the server goes, so that the caps of its queue and the rates
 * of its relays are exact. Other actors compose what they send with `outgoing.ts`.
 *
 *     queue    told by the actor that decides to send, in its own commit: the mail is queued once, or the outcome says why not
 *     room     asked by an actor that must answer somebody before it knows whether there will be a mail: would it be queued?
 *     recall   before anything of the mail was handed to a relay; a mail that is recalled before it arrives is dropped
 *              when it does. Told while a worker is sending the mail, it holds as soon as no relay has taken it
 *     outcome  told to the actor that the mail names, if it names one
 *
 * A mail is known by an id that its source gives: the same id queued twice is one mail.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { mailBytesMax } from './settings.ts';
import { mailSources } from './sources.ts';

/** The id of the one actor. */
export const mailerId = 'mailer';

/** The links of mails lead there: docs/protocol/delivery.md, "Stopping mail". */
export const unsubscribePath = '/v1/mail/unsubscribe';

/** Shown to administrators, so it holds nothing that only the recipient may know. */
const mailIdSchema = z.string().regex(/^[\w.:-]{1,128}$/);

/** An actor of a kind that has `mailOutcome: mailOutcomeSchema` among its tells. */
const listenerSchema = z.object({
  kind: z.string().max(64),
  id: z.string().max(128),
  /** Given back with every outcome: what the actor knows the mail by. */
  key: z.string().max(128),
});

/** With an address of any length. */
const messageIdSchema = z.string().max(320);

export const mailSourceSchema = z.enum(mailSources);

const contentSchema: z.ZodType<Uint8Array> = z
  .instanceof(Uint8Array)
  .refine(({ byteLength }) => byteLength <= mailBytesMax);

const mailSchema = z.object({
  id: mailIdSchema,
  source: mailSourceSchema,
  /** Whose account it is sent for. */
  userUuid: z.string().max(64),
  /** When the account was made; without it the account counts as old. */
  accountSinceMs: z.number().optional(),
  /** Recipient, subject and text, sealed. */
  content: contentSchema,
  /** Not to be sent later than this; without it, as long as the source's mails are. */
  expiresAtMs: z.number().optional(),
  listener: listenerSchema.optional(),
  /** The id of an earlier mail that said the same and may have arrived. Without it the mail gets a new one. */
  messageId: messageIdSchema.optional(),
});
/** A mail as it is queued. */
export type SealedMail = z.infer<typeof mailSchema>;

/** Why the queue did not take a mail: no room; no relay was ever set up; its account has sent too many to others. */
const queueRefusals = ['full', 'not-configured', 'daily-limit'] as const;
export type QueueRefusal = (typeof queueRefusals)[number];

const queuedSchema = z.union([
  z.object({ queued: z.literal(true) }),
  z.object({ queued: z.literal(false), why: z.enum(queueRefusals), retryAfterMs: z.number() }),
]);
export type Queued = z.infer<typeof queuedSchema>;

export const failures = [
  'connection',
  'timeout',
  'authentication',
  'rejected',
  'rate-limited',
  'provider',
  'expired',
] as const;
/** All that is kept, shown or told of what went wrong: no relay's words. */
export type Failure = (typeof failures)[number];

/**
 *     refused    the queue did not take it; queueing it again later may help
 *     accepted   a relay has it
 *     failed     an attempt failed, and another comes at `nextAttemptAtMs`
 *     dead       nothing more will be tried
 *     recalled   it will not be sent, as its source wished
 */
export const mailOutcomeSchema = z.object({
  id: mailIdSchema,
  key: z.string(),
  outcome: z.enum(['refused', 'accepted', 'failed', 'dead', 'recalled']),
  atMs: z.number(),
  attempts: z.number(),
  nextAttemptAtMs: z.number().nullable(),
  failure: z.enum(failures).nullable(),
  refusal: z.enum(queueRefusals).nullable(),
  /** Its `Message-ID`, once it had one. */
  messageId: messageIdSchema.optional(),
});
export type MailOutcome = z.infer<typeof mailOutcomeSchema>;

/**
 *     recalled   it will not be sent
 *     in-flight  it is being handed to a relay, or nobody knows whether one took it; in that case it is not tried again, not
 *                even by an administrator, and what it says is gone
 *     accepted   a relay has it
 *     dead       nothing more would have been tried, and nothing is now
 */
const recallResults = ['recalled', 'in-flight', 'accepted', 'dead'] as const;
export type RecallResult = (typeof recallResults)[number];

/** By its id, and whose account it was to be sent for. */
const recallSchema = mailSchema.pick({ id: true, userUuid: true });

const worker = z.object({ worker: z.int() });

export const Mailer = contract({
  name: 'mailer',
  commands: {
    queue: { request: mailSchema, reply: queuedSchema },
    room: { request: z.object({ source: mailSourceSchema }), reply: queuedSchema },
    recall: {
      request: recallSchema,
      reply: z.object({ result: z.enum(recallResults) }),
    },
    /** Stops all mail to a mailbox but codes and security notices. */
    unsubscribe: { request: z.object({ mailbox: z.string().max(64) }), reply: z.object({}) },
    /** Whether there is a relay that could send. */
    status: { request: z.object({}), reply: z.object({ configured: z.boolean() }) },
  },
  tells: {
    queue: mailSchema,
    /** For those that need no answer. */
    recall: recallSchema,
    /** The account is no more: what was counted for it goes. */
    forgetSender: z.object({ userUuid: z.string() }),
  },
  timers: {
    /** Due for one mail: its next attempt, or its end. */
    due: z.object({ id: mailIdSchema }),
    /** A relay may be able to send again. */
    wake: z.null(),
    /** Removes what need not be remembered any more. */
    sweep: z.null(),
  },
  jobs: {
    /** Sends one mail after another while there are any. Several run beside each other. */
    deliver: worker,
  },
});
