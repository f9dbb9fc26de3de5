/**
 * Sign-ins that wait for another device of the account (docs/protocol/account.md, "Approval by another device"):
 *
 *     pending   made with every refusal of a factor; a device that names its own gets the same one again
 *     approved  by a signed-in device: the next `login-params` that names it passes without the factor, once
 *     denied    likewise
 *     expired   `approvalAgeMs` after it was made, or once it was used
 *
 * The device that waits knows it by a secret, of which the hash is kept; those who decide know it by its
 * uuid. An unknown address has them too, but nobody decides them.
 */
import { z } from 'zod';
import { command, sharedRead, type Turn, type View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import type { Device } from '../identity/session.ts';
import { equalInConstantTime } from '../identity/session-tokens.ts';
import { makeSecret, secretHashOf } from '../identity/shown-once.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { AccountSettings } from '../settings.ts';
import { User } from '../user/contract.ts';
import { Signin } from './contract.ts';
import { isOwn, originOf } from './counting.ts';

const approvalsMax = 64;
/** A client asks two or three times in one sign-in. */
const ofNetworkMax = 4;

const storedSchema = z.object({
  uuid: z.string(),
  secretHash: z.string(),
  status: z.enum(['pending', 'approved', 'denied']),
  /** The key of the `Origin` that it was asked from. */
  network: z.string(),
  userAgent: z.string().nullable(),
  ipAddress: z.string().nullable(),
  createdAtMs: z.number(),
  expiresAtMs: z.number(),
});
type Approval = z.infer<typeof storedSchema>;

/** By uuid. */
export const approvalMap = sliceMap<Approval>({
  family: 'approval',
  format: 1,
  entriesMax: approvalsMax,
  schema: storedSchema,
});

/**
 * Has another device asked. Returns the id that the waiting device polls and names. `own` is the secret of one that it
 * has already: nobody else may go on with that, however alike their devices look.
 */
export function requestApproval(
  turn: Turn,
  device: Device,
  userUuid: string | undefined,
  own: string | undefined,
): string {
  const keys = turn.use(SigninKeys);
  const before = own === undefined ? undefined : findBySecret(turn, own);
  if (own !== undefined && before?.status === 'pending') return keys.approvalId(turn.self.id, own);
  const network = originOf(turn, { ipAddress: device.ipAddress }).key;
  const isAnnounced = current(turn).some((each) => each.network === network && each.status === 'pending');
  makeRoom(turn, network);
  const { secret, secretHash } = makeSecret(turn.random);
  const approval: Approval = {
    ...{ uuid: turn.random.uuid(), secretHash, status: 'pending', network },
    userAgent: device.userAgent,
    ipAddress: device.ipAddress,
    createdAtMs: turn.nowMs,
    expiresAtMs: turn.nowMs + turn.use(AccountSettings).approvalAgeMs,
  };
  turn.setEntry(approvalMap, approval.uuid, approval);
  if (userUuid !== undefined && !isAnnounced) turn.tell(User, userUuid).approvalRequested(shown(approval));
  return keys.approvalId(turn.self.id, secret);
}

/** Whether it was approved. Asking uses it up. */
export function takeApproved(turn: Turn, secret: string): boolean {
  const approval = findBySecret(turn, secret);
  if (approval?.status !== 'approved') return false;
  turn.removeEntry(approvalMap, approval.uuid);
  return true;
}

export const approvalStatus = sharedRead({
  ...Signin.commands.approvalStatus,
  answer: (view, { secret }) => ({ status: findBySecret(view, secret)?.status ?? ('expired' as const) }),
});

export const pendingApprovals = sharedRead({
  ...Signin.commands.pendingApprovals,
  answer: (view) => ({
    approvals: current(view)
      .filter(({ status }) => status === 'pending')
      .map(shown),
  }),
});

export const resolveApproval = command({
  ...Signin.commands.resolveApproval,
  turn: (turn, { uuid, approve, userUuid, from }) => {
    const approval = current(turn).find((each) => each.uuid === uuid);
    if (approval?.status !== 'pending') return { resolved: false };
    turn.setEntry(approvalMap, uuid, { ...approval, status: approve ? 'approved' : 'denied' });
    const event = approve ? 'sign-in-approved' : 'sign-in-denied';
    turn.tell(User, userUuid).signInNoted({ event, from });
    return { resolved: true };
  },
});

/** When the last of them expires. */
export const endOfApprovals = (view: View): number =>
  Math.max(0, ...[...view.entries(approvalMap).values()].map(({ expiresAtMs }) => expiresAtMs));

const current = (view: View & { readonly nowMs: number }): readonly Approval[] =>
  [...view.entries(approvalMap).values()].filter(({ expiresAtMs }) => view.nowMs < expiresAtMs);

function findBySecret(view: View & { readonly nowMs: number }, secret: string): Approval | undefined {
  const secretHash = secretHashOf(secret);
  return current(view).find((each) => equalInConstantTime(secretHash, each.secretHash));
}

/** Of a network that has its share its own oldest goes; where all is full, the oldest of strangers. */
function makeRoom(turn: Turn, network: string): void {
  const byAge = [...turn.entries(approvalMap).values()].toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  const ended = byAge.filter(({ expiresAtMs }) => turn.nowMs >= expiresAtMs);
  for (const { uuid } of ended) turn.removeEntry(approvalMap, uuid);
  const left = byAge.filter((each) => !ended.includes(each));
  const own = left.filter((each) => each.network === network);
  if (own.length < ofNetworkMax && left.length < approvalsMax) return;
  const strangers = left.filter((each) => !isOwn(turn, each.network));
  const [oldest] = own.length >= ofNetworkMax ? own : strangers.length > 0 ? strangers : left;
  if (oldest !== undefined) turn.removeEntry(approvalMap, oldest.uuid);
}

const shown = ({ uuid, userAgent, ipAddress, createdAtMs, expiresAtMs }: Approval) => ({
  uuid,
  userAgent,
  ipAddress,
  createdAtMs,
  expiresAtMs,
});
