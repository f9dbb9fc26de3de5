/** The `user` kind: one actor per account, with its credentials, its sessions and its own items. */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { type Mismatch, mismatchSchema } from '../collection/integrity.ts';
import { fullItemSchema } from '../collection/item-fields.ts';
import { concludePayload } from '../collection/move/departures.ts';
import { comeHomeFields, comeHomeReply } from '../collection/move/wire.ts';
import { revisionTimerShapes } from '../collection/revisions/timer-shapes.ts';
import { syncReplyJson, syncReplySchema } from '../collection/sync-reply.ts';
import { integrityFields, itemFields, syncFields } from '../collection/sync-request.ts';
import { fileJobShapes, fileMoveTellShapes, fileTimerShapes } from '../files/shapes.ts';
import { approvalSchema } from '../identity/approval.ts';
import { requestedCodeSchema } from '../identity/emailed-code.ts';
import { keyParamsSchema, sentKeyParamsSchema } from '../identity/key-params.ts';
import {
  deviceSchema,
  grantedSchema,
  issuedSchema,
  sessionEntrySchema,
  signInReplySchema,
} from '../identity/session.ts';
import { credentialsSchema } from '../identity/session-tokens.ts';
import { mailOutcomeSchema } from '../mailer/contract.ts';
import { answerSchema } from '../reply.ts';
import { openToBridges, signedIn } from '../signed-in.ts';
import { adminShapes } from './admin/shapes.ts';
import { assistantShapes } from './assistant/shapes.ts';
import { auditShapes } from './audit/shapes.ts';
import { bridgeTokenShapes } from './bridge/shapes.ts';
import { calendarShapes, calendarTokenShapes } from './calendar/shapes.ts';
import { codeHostShapes } from './code-host/shapes.ts';
import { emailDeliveryShapes } from './email-delivery/shapes.ts';
import { userEventSchema } from './events.ts';
import { factorShapes } from './factors/shapes.ts';
import { fileShapes, fileTellShapes } from './files/shapes.ts';
import { inboxShapes, inboxTellShapes } from './inbox/shapes.ts';
import { notOfferedShapes } from './not-offered.ts';
import { pairingShapes, pairingTellShapes } from './pairing/shapes.ts';
import { publicShareShapes, publicShareTellShapes } from './public-shares/shapes.ts';
import { publishedReminderShapes } from './published-reminders/shapes.ts';
import { reminderShapes } from './reminders/shapes.ts';
import { exportShapes } from './requests/shapes.ts';
import { revisionShapes } from './revisions/shapes.ts';
import { settingShapes } from './settings/shapes.ts';
import {
  subscriptionShapes,
  subscriptionTellShapes,
  subscriptionTokenShapes,
} from './subscription/shapes.ts';
import { switchShapes } from './switches/shapes.ts';
import { syncLaneShapes } from './sync-lane/shapes.ts';
import { vaultShapes, vaultTellShapes } from './vaults/shapes.ts';

export { modernReplySchema } from '../collection/sync-reply.ts';
export { wrappedKeysBytesMax } from './bridge/shapes.ts';
export {
  byUid,
  calendarGates,
  type FeedAnswer,
  type ListedObject,
  objectsAtOnceMax,
  type ShownSecret,
  uidEscapedMax,
  type WholeObject,
} from './calendar/shapes.ts';
export { shownTodoSchema } from './calendar/todo.ts';
export { type FrameEvent, type FrameType, frameTypes, itemsChanged, userEventSchema } from './events.ts';
export { publishedReminder } from './published-reminders/shapes.ts';
export { type ExportPlace, firstExportPlace } from './requests/shapes.ts';
export { isRefusedSetting, settingsActedOn, settingValueBytesMax } from './settings/known.ts';
export type { TicketClaims } from './sync-lane/shapes.ts';

const nothing = z.object({});

export const User = contract({
  name: 'user',
  commands: {
    // --- account ----------------------------------------------------------------------------------------------

    /**
     * Sent to an actor that does not exist yet; the gateway makes its id from the call. Refusals: 400 of
     * docs/protocol/authentication.md, "Registration".
     */
    register: {
      request: z.object({
        /** Normalised. */
        email: z.string(),
        workspace: z.string(),
        password: z.string(),
        keyParams: sentKeyParamsSchema,
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        hvmToken: z.string().optional(),
        device: deviceSchema,
      }),
      reply: answerSchema(signInReplySchema),
    },

    /** The last step of a sign-in, asked by the `signin` actor once the password was found right. */
    openSession: {
      request: z.object({
        /** The version and address of the credentials that were found right. */
        credentialsVersion: z.number(),
        email: z.string(),
        workspace: z.string(),
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        /** Must be right, and turn the second factor off. */
        recoveryCodes: z.string().optional(),
        device: deviceSchema,
        /** Of the same password, in place of one that another server made. */
        newHash: z.string().optional(),
        /** Neither the device nor its network was known at the address. */
        isNewDevice: z.boolean(),
      }),
      reply: z.union([
        z.object({ issued: grantedSchema, protocolVersion: z.string() }),
        /** The credentials have changed since they were read, or the account is gone. */
        z.object({ stale: z.literal(true) }),
        z.object({ banned: z.literal(true) }),
      ]),
    },

    /**
     * `login-params` of a signed-in caller (docs/protocol/authentication.md, "Login params"): the account's key params
     * in full.
     */
    keyParams: signedIn({
      access: 'reads',
      fields: z.object({ codeChallenge: z.string() }),
      ok: keyParamsSchema,
    }),

    /**
     * Refusals: 401 and 403 of docs/protocol/authentication.md, "Change of credentials"; 423 after too many wrong
     * passwords.
     */
    changeCredentials: signedIn({
      access: 'writes',
      fields: z.object({
        /** The user in the path, who must be the caller. */
        userUuid: z.string(),
        currentPassword: z.string(),
        newPassword: z.string(),
        /** Normalised; absent: the address stays. */
        newEmail: z.string().optional(),
        keyParams: sentKeyParamsSchema,
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      ok: signInReplySchema,
    }),

    /**
     * Refusals: 400, 401 and 403 of docs/protocol/authentication.md, "Deletion of an account"; 423 after too many wrong
     * passwords.
     */
    deleteAccount: signedIn({
      access: 'writes',
      fields: z.object({
        /** The user in the path, who must be the caller. */
        userUuid: z.string(),
        /** `x-server-password`. */
        password: z.string().optional(),
      }),
      ok: nothing,
    }),

    // Those that protect the account ask themselves.
    ...openToBridges(settingShapes),
    ...openToBridges(subscriptionShapes),
    ...subscriptionTokenShapes,
    ...openToBridges(exportShapes),
    ...factorShapes,
    ...bridgeTokenShapes,
    ...auditShapes,
    ...adminShapes,
    ...emailDeliveryShapes,
    ...openToBridges(publicShareShapes),
    ...openToBridges(switchShapes),
    ...openToBridges(reminderShapes),
    ...openToBridges(publishedReminderShapes),
    ...openToBridges(calendarShapes),
    ...calendarTokenShapes,
    ...openToBridges(assistantShapes),
    ...pairingShapes,
    ...openToBridges(codeHostShapes),
    ...openToBridges(notOfferedShapes),

    // --- sessions ---------------------------------------------------------------------------------------------

    /**
     * The proof is in the request. Refusals: 400 of docs/protocol/authentication.md, "Refresh", 429 after too many
     * within the grace.
     */
    refresh: {
      request: z.object({
        /** Finds the session and proves the access half. */
        access: credentialsSchema,
        /** Prove the refresh half; of the style of `access`. */
        refreshSecrets: z.array(z.string()).readonly(),
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      reply: answerSchema(issuedSchema),
    },

    /**
     * Ends the session of the credentials. An expired access token will do, its secret must match
     * (docs/protocol/authentication.md, "Logout").
     */
    logout: {
      request: z.object({ credentials: credentialsSchema }),
      reply: answerSchema(z.object({ sessionUuid: z.string() })),
    },

    /** Newest refresh expiry first. A read-only session is shown none. */
    listSessions: signedIn({
      access: 'reads',
      fields: nothing,
      ok: z.array(sessionEntrySchema),
    }),

    /** Refusals: 400 for the caller's own session and for one that is not there. */
    deleteSession: signedIn({
      access: 'writes',
      fields: z.object({ sessionUuid: z.string() }),
      ok: nothing,
    }),
    deleteOtherSessions: signedIn({
      access: 'writes',
      fields: nothing,
      ok: nothing,
    }),

    /**
     * Whether there is a living session, and which (docs/protocol/authentication.md, "Validation for other services").
     */
    validateSession: signedIn({
      access: 'reads',
      fields: nothing,
      ok: z.object({ sessionUuid: z.string(), readonly: z.boolean() }),
    }),
    /** The same for routes that take the bearer of a cookie-style session without its cookie. */
    validateBearer: signedIn({
      access: 'reads',
      bearerAlone: true,
      fields: nothing,
      ok: nothing,
    }),

    /**
     * For gateways alone: which of these sessions, for which one has or is about to open sockets, are still alive. If
     * any is, the gateway is subscribed to this user from then on. No access token is asked for: a socket outlives its
     * own.
     */
    ...syncLaneShapes,

    openSocket: {
      request: z.object({ gateway: z.string(), sessions: z.array(z.string()).readonly() }),
      reply: z.object({
        living: z.array(z.string()).readonly(),
        /** The incarnation of the host that events will come from; undefined where none will. */
        host: z.string().optional(),
        /** The vaults where the user is a member, with the numbers of the memberships: a hint. */
        vaults: z.record(z.string(), z.number()).optional(),
        /** When the first of the living ends by its age, of which nobody is told. */
        endsInMs: z.number().optional(),
      }),
    },

    // --- items ------------------------------------------------------------------------------------------------

    /** Saves and gives (docs/protocol/sync.md). What a read-only session may not save is that item's conflict. */
    sync: signedIn({ access: 'reads', fields: syncFields, ok: syncReplySchema, json: syncReplyJson }),

    /**
     * Which of the user's items differ from what the client says it has (docs/protocol/sync.md, "Integrity"), without
     * ciphertext.
     */
    checkIntegrity: signedIn({
      access: 'reads',
      fields: integrityFields,
      ok: z.object({ mismatches: z.array(mismatchSchema).readonly() }) as z.ZodType<{
        readonly mismatches: readonly Mismatch[];
      }>,
    }),

    /**
     * One item of the user's own, tombstones included (docs/protocol/sync.md, "A single item"). Any other uuid is 404,
     * no matter whose it is.
     */
    getItem: signedIn({ access: 'reads', fields: itemFields, ok: z.object({ item: fullItemSchema }) }),

    /** By a vault that has ended: these were the user's there. Which of them are here now. */
    comeHome: { request: comeHomeFields, reply: comeHomeReply },

    // The history is what is left when a bridge goes wrong.
    ...revisionShapes,
    ...openToBridges(vaultShapes),
    // It takes from the other members what they have.
    deleteVault: vaultShapes.deleteVault,
    ...openToBridges(inboxShapes),
    ...fileShapes,
  },
  tells: {
    /** Someone not yet signed in waits for one of the user's devices. */
    approvalRequested: approvalSchema,

    /** What the `signin` actor of its address has for the audit trail. */
    signInNoted: z.object({
      event: z.enum(['sign-in-failed', 'sign-in-approved', 'sign-in-denied']),
      from: z.object({ userAgent: z.string().nullable(), ipAddress: z.string().nullable() }),
    }),
    /** Likewise, for a code in a mail: sent if the account asks for codes by e-mail. */
    mailCode: requestedCodeSchema,
    ...subscriptionTellShapes,
    ...publicShareTellShapes,
    ...vaultTellShapes,
    ...inboxTellShapes,
    ...fileTellShapes,
    ...fileMoveTellShapes,
    ...pairingTellShapes,
    /** What became of a mail that the account sent and follows. */
    mailOutcome: mailOutcomeSchema,
  },
  timers: {
    /** The next batch of what a deleted account leaves behind: items after this position, revisions after this place. */
    purge: z.object({ after: z.int(), afterPlace: z.int().default(0) }),
    /** The oldest event of its audit trail is too old. */
    trimAuditTrail: z.null(),
    /** The oldest command of its journal is too old, or there are too many. */
    trimSyncJournal: z.null(),
    ...revisionTimerShapes,
    ...fileTimerShapes,
    /** Keyed by the departure. */
    concludeDeparture: concludePayload,
    /** Something comes for one of its dead man's switches. */
    watchSwitches: z.null(),
    /** A reminder by e-mail is due, or leaves the list. */
    sendReminders: z.null(),
    /** A published reminder is due, or counts as sent. */
    watchDeliveries: z.null(),
    /** A calendar slot was wanted long ago. */
    giveSlotsBack: z.null(),
  },
  jobs: {
    ...fileJobShapes,
    /** Hands published reminders to messengers. */
    deliverReminders: z.null(),
  },
  event: userEventSchema,
});
