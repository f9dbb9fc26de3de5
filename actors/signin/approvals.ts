/**
 * Sign-ins that wait for another device of the account (docs/protocol/account.md, "Approval by another device"):
 *
 *     pending   a refusal of a factor makes one, unless the device has one already
 *     approved  by a signed-in device: the next `login-params` of the waiting device passes without the factor
 *     denied    likewise
 *     used      by that `login-params`; clients are told `expired`
 *     expired   `approvalAgeMs` after it was made, or once the device has met the factor itself
 *
 * The waiting device proves that it is the same one by the secret it was given or by the code challenge it sent. Both are
 * unguessable. The server derives the secret from the uuid, and keeps only the hash of the challenge. Devices that decide know an
 * approval by its uuid. Unknown addresses have approvals too, which nobody can decide.
 *
 * A used approval keeps the id of the call that used it, so that a repeat of that call passes again.
 */
import { z } from 'zod';
import { type ClockedView, command, sharedRead, type Turn, type View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import type { Device } from '../identity/session.ts';
import { equalInConstantTime } from '../identity/session-tokens.ts';
import { secretHashOf } from '../identity/shown-once.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { type ApprovalStatus, approvalSchema } from '../identity/signin-messages.ts';
import { AccountSettings } from '../settings.ts';
import { AuditTrail } from '../user/audit/contract.ts';
import { Factors } from '../user/factors/contract.ts';
import { Signin } from './contract.ts';
import { attemptOriginOf, isOwn } from './counting.ts';

const approvalsMax = 64;
/** A client asks two or three times in one sign-in. */
const ofNetworkMax = 4;

const storedSchema = approvalSchema.extend({
  /** The hash of the code challenge that the device sent. */
  challengeHash: z.string(),
  status: z.enum(['pending', 'approved', 'denied', 'used']),
  /** The call that used it. */
  usedBy: z.string().optional(),
  /** The key of the `AttemptOrigin` that it was asked from. */
  network: z.string(),
});
type Approval = z.infer<typeof storedSchema>;

/** Keyed by uuid. */
export const approvalMap = sliceMap<Approval>({
  family: 'approval',
  entriesMax: approvalsMax,
  schema: storedSchema,
});

/** The proof that the waiting device sends with every `login-params`. */
export interface WaitingDevice {
  readonly approvalSecret?: string | undefined;
  readonly codeChallenge: string;
}

/**
 * Asks the signed-in devices of the account, unless they were asked for this device already. Returns the id that the
 * waiting device polls. For an unknown address the user does not exist, so that the time of the answer tells nothing.
 *
 * A network that already has its share of approvals gets another one, but no announcement. Otherwise anyone could make the
 * user's devices ring without end.
 */
export function requestApproval(
  turn: Turn,
  device: Device,
  userUuid: string,
  waiting: WaitingDevice,
): string {
  const keys = turn.use(SigninKeys);
  const idOf = (uuid: string) => keys.approvalId(turn.self.id, keys.approvalSecret(turn.self.id, uuid));
  const before = findOfDevice(turn, waiting);
  if (before?.status === 'pending') return idOf(before.uuid);
  const network = attemptOriginOf(turn, { ipAddress: device.ipAddress }).key;
  const hadCapacity = evictIfFull(turn, network);
  const approval: Approval = {
    uuid: turn.random.uuid(),
    challengeHash: secretHashOf(waiting.codeChallenge),
    status: 'pending',
    network,
    userAgent: device.userAgent,
    ipAddress: device.ipAddress,
    createdAtMs: turn.nowMs,
    expiresAtMs: turn.nowMs + turn.use(AccountSettings).approvalAgeMs,
  };
  turn.setEntry(approvalMap, approval.uuid, approval);
  if (hadCapacity) turn.tell(Factors, userUuid).approvalRequested(summaryOf(approval));
  return idOf(approval.uuid);
}

/** Whether another device has approved. Asking uses the approval up, except for a repeat of the same call. */
export function takeApproved(turn: Turn, waiting: WaitingDevice, callId: string): boolean {
  const approval = findOfDevice(turn, waiting);
  if (approval?.status === 'used') return approval.usedBy === callId;
  if (approval?.status !== 'approved') return false;
  turn.setEntry(approvalMap, approval.uuid, { ...approval, status: 'used', usedBy: callId });
  return true;
}

/** Ends the approval of a device that has met the factor. */
export function withdrawApproval(turn: Turn, waiting: WaitingDevice): void {
  const approval = findOfDevice(turn, waiting);
  if (approval !== undefined && approval.status !== 'used') turn.removeEntry(approvalMap, approval.uuid);
}

export const approvalStatus = sharedRead(Signin.commands.approvalStatus, (view, query) => ({
  status: statusOf(find(view, query)),
}));

function find(view: ClockedView, query: { readonly secret: string } | { readonly uuid: string }) {
  if ('secret' in query) return findBySecret(view, query.secret);
  return current(view).find(({ uuid }) => uuid === query.uuid);
}

const statusOf = (approval: Approval | undefined): ApprovalStatus =>
  approval === undefined || approval.status === 'used' ? 'expired' : approval.status;

export const pendingApprovals = sharedRead(Signin.commands.pendingApprovals, (view) => ({
  approvals: current(view)
    .filter(({ status }) => status === 'pending')
    .map(summaryOf),
}));

export const resolveApproval = command(
  Signin.commands.resolveApproval,
  (turn, { uuid, approve, userUuid, from }) => {
    const approval = current(turn).find((each) => each.uuid === uuid);
    if (approval?.status !== 'pending') return { resolved: false };
    turn.setEntry(approvalMap, uuid, { ...approval, status: approve ? 'approved' : 'denied' });
    const event = approve ? 'sign-in-approved' : 'sign-in-denied';
    turn.tell(AuditTrail, userUuid).signInNoted({ event, from });
    return { resolved: true };
  },
);

/** When the last of them expires. */
export const endOfApprovals = (view: View): number =>
  Math.max(0, ...[...view.entries(approvalMap).values()].map(({ expiresAtMs }) => expiresAtMs));

const current = (view: ClockedView): readonly Approval[] =>
  [...view.entries(approvalMap).values()].filter(({ expiresAtMs }) => view.nowMs < expiresAtMs);

function findOfDevice(
  view: ClockedView,
  { approvalSecret, codeChallenge }: WaitingDevice,
): Approval | undefined {
  const bySecret = approvalSecret === undefined ? undefined : findBySecret(view, approvalSecret);
  if (bySecret !== undefined) return bySecret;
  const challengeHash = secretHashOf(codeChallenge);
  return current(view).find((each) => equalInConstantTime(challengeHash, each.challengeHash));
}

function findBySecret(view: ClockedView, secret: string): Approval | undefined {
  const keys = view.use(SigninKeys);
  const secretOf = ({ uuid }: Approval) => keys.approvalSecret(view.self.id, uuid);
  return current(view).find((each) => equalInConstantTime(secret, secretOf(each)));
}

/**
 * Returns true if another approval fits. Otherwise it removes one: the oldest of this network, if the network has its share, else
 * the oldest of an unknown network.
 */
function evictIfFull(turn: Turn, network: string): boolean {
  const byAge = [...turn.entries(approvalMap).values()].toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  const ended = byAge.filter(({ expiresAtMs }) => turn.nowMs >= expiresAtMs);
  for (const { uuid } of ended) turn.removeEntry(approvalMap, uuid);
  const left = byAge.filter((each) => !ended.includes(each));
  const own = left.filter((each) => each.network === network);
  if (own.length < ofNetworkMax && left.length < approvalsMax) return true;
  const unknown = left.filter((each) => !isOwn(turn, each.network));
  const [oldest] = own.length >= ofNetworkMax ? own : unknown.length > 0 ? unknown : left;
  if (oldest !== undefined) turn.removeEntry(approvalMap, oldest.uuid);
  return false;
}

const summaryOf = ({ uuid, userAgent, ipAddress, createdAtMs, expiresAtMs }: Approval) => ({
  uuid,
  userAgent,
  ipAddress,
  createdAtMs,
  expiresAtMs,
});
