/**
 * The `user` kind: one actor for each account. This file has the name of the kind and its events, which gateways hand to the
 * user's sockets (docs/protocol/sockets.md, "Frames"). Each feature has a contract of its own, in its folder.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import type { ApprovalRequest } from '../identity/signin-messages.ts';
import type { InboxMessage, Notification, VaultInvite } from '../inbox-entries.ts';

/** The types of the frames that this release publishes. */
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

/** A frame for the user's clients, which know it by its type. */
const frameSchema = z.object({
  event: z.literal('frame'),
  type: z.string(),
  origin: z.enum(['syncing-server', 'auth']),
  payload: z.record(z.string(), z.unknown()),
  /** Clients look for these fields beside the type of the frame, and for no others. */
  isFlat: z.boolean().optional(),
  /** The sockets of this session do not get the frame: the session caused it. */
  exceptSession: z.string().optional(),
});
export type FrameEvent = z.infer<typeof frameSchema>;
/** This release publishes these types. A newer one may publish others. */
type OwnFrame = FrameEvent & { readonly type: FrameType };

/** For gateways alone: they close the sockets of these sessions. */
const sessionsEndedSchema = z.object({
  event: z.literal('sessions-ended'),
  sessions: z.array(z.string()).readonly(),
});

/** For gateways alone: the user's sockets get the events of this vault from now on. */
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

/** No session has this uuid, so every client takes the frame. */
const noSessionUuid = '00000000-0000-0000-0000-000000000000';

/** There is something to sync. Without a session it is unknown which device caused it. */
export function itemsChanged(userUuid: string, timestampMicros: number, sessionUuid?: string): OwnFrame {
  return {
    event: 'frame',
    type: 'ITEMS_CHANGED_ON_SERVER',
    origin: 'syncing-server',
    payload: { userUuid, sessionUuid: sessionUuid ?? noSessionUuid, timestamp: timestampMicros },
    ...(sessionUuid !== undefined && { exceptSession: sessionUuid }),
  };
}

/** A sign-in waits for an approval, which any device of the user may give. */
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

/** The roles that the account has from now on. */
export function rolesChanged(payload: {
  readonly userUuid: string;
  readonly email: string;
  readonly currentRoles: readonly string[];
  readonly timestamp: number;
}): OwnFrame {
  return { event: 'frame', type: 'USER_ROLES_CHANGED', origin: 'auth', payload };
}

/** The items that a session has saved. A client applies them if its sync token is `baseSyncToken`. */
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

/** Longer texts could fill a socket that reads slowly: the client gets them by a sync. */
const ciphertextLengthMax = 16 * 1024;

export function messageArrived(userUuid: string, timestampMicros: number, message: InboxMessage): OwnFrame {
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

export const User = contract({ name: 'user', event: userEventSchema });
