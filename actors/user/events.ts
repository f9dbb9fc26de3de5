/** What a user's actor publishes to the gateways that hold the user's sockets (docs/protocol/sockets.md, "Frames"). */
import { z } from 'zod';
import type { ApprovalRequest } from '../identity/signin-messages.ts';
import type { Message, Notification, VaultInvite } from '../inbox-entries.ts';

/** Of the frames that this release sends to the clients of a user. */
export const frameTypes = [
  'ITEMS_CHANGED_ON_SERVER',
  'SYNC_ITEMS_PUSHED',
  'NOTIFICATION_ADDED_FOR_USER',
  'MESSAGE_SENT_TO_USER',
  'USER_INVITED_TO_SHARED_VAULT',
  'USER_ROLES_CHANGED',
  'MFA_APPROVAL_REQUESTED',
] as const;
export type FrameType = (typeof frameTypes)[number];

/** A frame for the user's clients, who know it by its type. */
const frameSchema = z.object({
  event: z.literal('frame'),
  type: z.string(),
  origin: z.enum(['syncing-server', 'auth']),
  payload: z.record(z.string(), z.unknown()),
  /** Clients look for these fields beside the type of the frame, and for no others. */
  isFlat: z.boolean().optional(),
  /** The session whose sockets are left out: it knows already. */
  exceptSession: z.string().optional(),
});
export type FrameEvent = z.infer<typeof frameSchema>;
/** One that this release publishes: a newer one may publish others. */
type OwnFrame = FrameEvent & { readonly type: FrameType };

/** Not for clients: the sockets of these sessions are closed. */
const sessionsEndedSchema = z.object({
  event: z.literal('sessions-ended'),
  sessions: z.array(z.string()).readonly(),
});

/** Likewise: the user's sockets get to hear of this vault too. */
const vaultJoinedSchema = z.object({
  event: z.literal('vault-joined'),
  vaultUuid: z.string(),
  membership: z.number(),
});

export const userEventSchema = z.discriminatedUnion('event', [
  frameSchema,
  sessionsEndedSchema,
  vaultJoinedSchema,
]);
export type UserEvent = z.infer<typeof userEventSchema>;

/** The uuid of no session: such a frame is for all of them. */
const nobodysSession = '00000000-0000-0000-0000-000000000000';

/** There is something to sync. Without a session, it is not known who caused it. */
export function itemsChanged(userUuid: string, timestampMicros: number, sessionUuid?: string): OwnFrame {
  return {
    event: 'frame',
    type: 'ITEMS_CHANGED_ON_SERVER',
    origin: 'syncing-server',
    payload: { userUuid, sessionUuid: sessionUuid ?? nobodysSession, timestamp: timestampMicros },
    ...(sessionUuid !== undefined && { exceptSession: sessionUuid }),
  };
}

/** Someone wants to sign in, and any of the user's devices may decide. */
export function approvalRequested(approval: ApprovalRequest): OwnFrame {
  const payload = {
    challengeId: approval.uuid,
    requestingUserAgent: approval.userAgent ?? '',
    requestingIpAddress: approval.ipAddress,
    createdAt: approval.createdAtMs,
    expiresAt: approval.expiresAtMs,
  };
  return { event: 'frame', type: 'MFA_APPROVAL_REQUESTED', origin: 'auth', payload, isFlat: true };
}

/** The names of the roles that the account has from now on. */
export function rolesChanged(payload: {
  readonly userUuid: string;
  readonly email: string;
  readonly currentRoles: readonly string[];
  readonly timestamp: number;
}): OwnFrame {
  return { event: 'frame', type: 'USER_ROLES_CHANGED', origin: 'auth', payload };
}

/** What a session has saved, for those of the others that stand at `baseSyncToken`. */
export function itemsPushed(payload: Record<string, unknown> & { readonly sessionUuid: string }): OwnFrame {
  return { ...frame('SYNC_ITEMS_PUSHED', payload), exceptSession: payload.sessionUuid };
}

const frame = (type: FrameType, payload: Record<string, unknown>): OwnFrame => ({
  event: 'frame',
  type,
  origin: 'syncing-server',
  payload,
});

export const notificationAdded = (notification: Notification): OwnFrame =>
  frame('NOTIFICATION_ADDED_FOR_USER', { notification });

/** What would fill a socket that has not read for a while is left to a sync. */
const ciphertextLengthMax = 16 * 1024;

export function messageArrived(userUuid: string, timestampMicros: number, message: Message): OwnFrame {
  if (message.encrypted_message.length > ciphertextLengthMax) return itemsChanged(userUuid, timestampMicros);
  return frame('MESSAGE_SENT_TO_USER', { message });
}

export function userInvited(userUuid: string, timestampMicros: number, invite: VaultInvite): OwnFrame {
  if (invite.encrypted_message.length > ciphertextLengthMax) return itemsChanged(userUuid, timestampMicros);
  return frame('USER_INVITED_TO_SHARED_VAULT', { invite });
}

export function sessionsEnded(sessions: readonly string[]): UserEvent {
  return { event: 'sessions-ended', sessions };
}
