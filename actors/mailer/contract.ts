/**
 * The `mailer` kind: one actor sends every mail of the server. So the caps of its queue and the rates of its relays are exact.
 * Other actors compose what they send with `outgoing.ts`.
 *
 *     queue    a tell, in the commit of the actor that decides to send. The mail is queued once, or the outcome says why not
 *     room     asked by an actor that must answer a client before it knows whether there will be a mail: would it be queued?
 *     recall   stops a mail that no relay has anything of. A mail that is recalled before it arrives at the queue is dropped when it
 *              does. While a worker is sending the mail, the recall takes effect once it is clear that no relay has taken it
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
  /** The actor's own name for the mail, given back with every outcome. */
  key: z.string().max(128),
});

/**
 * A file that comes with the mail. It is not stored with it: when the mail is sent, the listener is asked for it piece by piece
 * (`mailAttachmentShape`).
 */
export const attachmentSchema = z.object({
  filename: z.string().max(128),
  /** The text of the mail if its file is too large. */
  textWithout: z.string(),
});

/**
 * The command `mailAttachment` of a listener that sends mails with a file: one piece of the file. It checks no session, so no
 * client may reach it.
 */
export const mailAttachmentShape = {
  request: z.object({
    /** The listener's key of this mail. */
    key: z.string(),
    /** `next` of the piece before; null for the first. */
    progress: z.json(),
  }),
  /** Null: there is no such file any more. */
  reply: z
    .object({
      text: z.string(),
      /** Null after the last piece. */
      next: z.json(),
    })
    .nullable(),
};

/** Long enough for an address of any length. */
const messageIdSchema = z.string().max(320);

export const mailSourceSchema = z.enum(mailSources);

const contentSchema: z.ZodType<Uint8Array> = z
  .instanceof(Uint8Array)
  .refine(({ byteLength }) => byteLength <= mailBytesMax);

const mailSchema = z.object({
  id: mailIdSchema,
  source: mailSourceSchema,
  /** The user for whose account it is sent. */
  userUuid: z.string().max(64),
  /** When the account was made; without it the account counts as old. */
  accountSinceMs: z.number().optional(),
  /** Recipient, subject and text, sealed. */
  content: contentSchema,
  /** The mail expires then; without this, its source decides. */
  expiresAtMs: z.number().optional(),
  listener: listenerSchema.optional(),
  /** The id of an earlier mail that said the same and may have arrived. Without it the mail gets a new one. */
  messageId: messageIdSchema.optional(),
});
/** A mail as it is queued. */
export type SealedMail = z.infer<typeof mailSchema>;

/** Reasons why the queue refuses a mail: no room; no relay was ever set up; the account has sent too many to others. */
const queueRefusals = ['full', 'not-configured', 'daily-limit'] as const;
export type QueueRefusal = (typeof queueRefusals)[number];

const queuedSchema = z.union([
  z.object({ queued: z.literal(true) }),
  z.object({ queued: z.literal(false), why: z.enum(queueRefusals), retryAfterMs: z.number() }),
]);
export type QueuedMail = z.infer<typeof queuedSchema>;

export const failures = [
  'connection',
  'timeout',
  'authentication',
  'rejected',
  'rate-limited',
  'provider',
  'expired',
] as const;
/** The kinds of failure that are kept, shown or told. They contain no words of a relay. */
export type MailFailure = (typeof failures)[number];

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
  /** A relay has the mail, but not its file, which was too large. */
  lacksAttachment: z.literal(true).optional(),
  /** Its `Message-ID`, once it had one. */
  messageId: messageIdSchema.optional(),
});
export type MailOutcome = z.infer<typeof mailOutcomeSchema>;

/**
 *     recalled   it will not be sent
 *     in-flight  it is being handed to a relay, or it is unknown whether one took it. In that case not even an administrator can try
 *                it again, and its content is gone
 *     accepted   a relay has it
 *     dead       it was dead already, and no administrator can try it again now
 */
const recallResults = ['recalled', 'in-flight', 'accepted', 'dead'] as const;
export type RecallResult = (typeof recallResults)[number];

/** The id of the mail, and the account that it was to be sent for. */
const recallSchema = mailSchema.pick({ id: true, userUuid: true });

const worker = z.object({ worker: z.int() });

export const Mailer = contract({
  name: 'mailer',
  commands: {
    queue: { request: mailSchema, reply: queuedSchema },
    /** The answer that `queue` would give to a short mail of this source now. */
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
    /** The same, for callers that need no answer. */
    recall: recallSchema,
    /** The account was deleted: its counts and its dead mails are removed. */
    forgetSender: z.object({ userUuid: z.string() }),
  },
  timers: {
    /** Due for one mail: its next attempt, or its end. */
    due: z.object({ id: mailIdSchema }),
    /** A relay may be able to send again. */
    wake: z.null(),
    /** Removes rows that need not be remembered any more. */
    sweep: z.null(),
  },
  jobs: {
    /** Sends one mail after another while there are any. Several run at the same time. */
    deliver: worker,
  },
});
