/**
 * The user's memberships, as far as the user's own actor has heard of them. They say where to look and authorize nothing: only
 * the rows of a vault decide who is a member.
 *
 *     joining  durable before the vault is asked to let the user in, so that an account that is deleted meanwhile tells it
 *     member   the vault has let the user in, by reply or tell
 *     left     nothing of this membership may come any more
 *
 * Vaults number the memberships, and their tells come in no order. The greater number wins, and `left` ends its number for
 * good. Ended memberships are remembered while there is room.
 */
import { z } from 'zod';
import { type Turn, tell, type View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { head, isCollectionFull } from '../../collection/head.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { type Refused, refuse } from '../../reply.ts';
import { Vault } from '../../vault/contract.ts';
import { membershipsMax, VaultSettings } from '../../vault/settings.ts';
import { audit } from '../audit/trail.ts';
import { User } from '../contract.ts';
import { notifyPlans, notifyUser, selfRemoved } from '../inbox/notifications.ts';
import { isActive, profileSlice } from '../profile.ts';
import { settingValue } from '../settings/stored.ts';
import { Vaults } from './contract.ts';

const endedMax = 500;
/** Much longer than the wait for a vault. */
const joiningMicros = 3_600_000_000;

const membershipSchema = z.object({
  /** While joining, the number of the last time; 0 before the first. */
  membership: z.number(),
  state: z.enum(['joining', 'member', 'left']),
  sinceMicros: z.number(),
});
export type Membership = Readonly<z.infer<typeof membershipSchema>>;

/** Keyed by the vault's uuid. */
export const membershipMap = sliceMap<Membership>({
  family: 'membership',
  entriesMax: membershipsMax + endedMax,
  schema: membershipSchema,
});

/**
 * Items of a vault return to their owner even if the account is full (`../items/return-to-owner.ts`). So the user of a full
 * account may not begin another vault. Otherwise they could fill and end one after the other.
 */
const accountIsFull = refuse.tooLarge(
  'This account holds as much as this server allows. Please delete something before you begin with another shared vault.',
);
const tooMany = refuse.badRequest('You are a member of as many shared vaults as you can be.');

const nowhere: ReadonlyMap<string, number> = new Map();
const numbersOf = new WeakMap<ReadonlyMap<string, Membership>, ReadonlyMap<string, number>>();

/**
 * The numbers of the memberships by vault, in the order of the vaults' uuids. It is the same map as long as the durable state
 * is the same.
 */
export function membershipsOf(view: View): ReadonlyMap<string, number> {
  const entries = view.entries(membershipMap);
  if (entries.size === 0) return nowhere;
  const known = numbersOf.get(entries);
  if (known !== undefined) return known;
  const current = [...entries].filter(([, { state }]) => state === 'member');
  const inOrder = current.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const numbers = new Map(inOrder.map(([vaultUuid, { membership }]) => [vaultUuid, membership]));
  numbersOf.set(entries, numbers);
  return numbers;
}

interface Joining {
  readonly vaultUuid: string;
  readonly isMember: boolean;
}

export function startJoining(turn: Turn, vaultUuid: string): Joining | Refused {
  const before = turn.entry(membershipMap, vaultUuid);
  if (before?.state === 'member') return { vaultUuid, isMember: true };
  const isRepeat = before !== undefined && isCounted(turn, before);
  if (!isRepeat && isCollectionFull(turn.get(head), turn.use(ItemSettings).quota)) return accountIsFull;
  const others = [...turn.entries(membershipMap)].filter(([uuid]) => uuid !== vaultUuid);
  const counted = others.filter(([, entry]) => isCounted(turn, entry)).length;
  if (counted >= turn.use(VaultSettings).vaultsMax) return tooMany;
  note(turn, vaultUuid, { membership: before?.membership ?? 0, state: 'joining' });
  return { vaultUuid, isMember: false };
}

/** The vault has refused, or has let the user in and out again. */
export function stopJoining(turn: Turn, vaultUuid: string): void {
  const before = turn.entry(membershipMap, vaultUuid);
  if (before?.state !== 'joining') return;
  if (before.membership === 0) turn.removeEntry(membershipMap, vaultUuid);
  else note(turn, vaultUuid, { membership: before.membership, state: 'left' });
}

interface NumberedMembership {
  readonly vaultUuid: string;
  readonly membership: number;
}

/** False: this was known, or is over. */
export function noteJoined(turn: Turn, { vaultUuid, membership }: NumberedMembership): boolean {
  const before = turn.entry(membershipMap, vaultUuid);
  if (before !== undefined && before.membership >= membership) return false;
  note(turn, vaultUuid, { membership, state: 'member' });
  turn.publish(User, { event: 'vault-joined', vaultUuid, membership });
  return true;
}

/** False: this was known, or is over. */
export function noteLeft(turn: Turn, { vaultUuid, membership }: NumberedMembership): boolean {
  const before = turn.entry(membershipMap, vaultUuid);
  if (before !== undefined && before.membership > membership) return false;
  if (before?.membership === membership && before.state !== 'member') return false;
  // The user has asked again to be let in, so a membership that ended is nothing to tell.
  const state = before?.state === 'joining' ? 'joining' : 'left';
  note(turn, vaultUuid, { membership, state });
  return true;
}

export const joinedTell = tell(Vaults.tells.joined, (turn, joined) => {
  const { state } = turn.get(profileSlice);
  if (state === 'active') noteJoined(turn, joined);
  else turn.tell(Vault, joined.vaultUuid).userGone();
});

/** The user did not end this membership, so it goes into their audit trail. */
export const leftTell = tell(Vaults.tells.left, {
  reads: (view, { vaultUuid }) => notifyPlans(view, [selfRemoved(vaultUuid)]),
  turn: (turn, left, _sender, reads) => {
    if (!isActive(turn)) return;
    if (noteLeft(turn, left)) audit(turn, 'shared-vault-left', null, left.vaultUuid);
    notifyUser(turn, [selfRemoved(left.vaultUuid)], left.at, reads);
  },
});

/** For an account that is deleted: tells some of its vaults. False: all of them know. */
export function leaveSomeVaults(turn: Turn, atMost: number): boolean {
  const uuids = [...turn.entries(membershipMap).keys()].slice(0, atMost);
  for (const uuid of uuids) {
    if (turn.entry(membershipMap, uuid)?.state !== 'left') turn.tell(Vault, uuid).userGone();
    turn.removeEntry(membershipMap, uuid);
  }
  return uuids.length > 0;
}

const isCounted = (view: View, { state, sinceMicros }: Membership): boolean =>
  state === 'member' || (state === 'joining' && view.nowMicros < sinceMicros + joiningMicros);

function note(turn: Turn, vaultUuid: string, to: Omit<Membership, 'sinceMicros'>): void {
  const entries = turn.entries(membershipMap);
  if (!entries.has(vaultUuid) && entries.size >= membershipsMax + endedMax) forgetOldest(turn);
  turn.setEntry(membershipMap, vaultUuid, { ...to, sinceMicros: turn.nowMicros });
}

function forgetOldest(turn: Turn): void {
  const [oldest] = [...turn.entries(membershipMap)]
    .filter(([, entry]) => !isCounted(turn, entry))
    .toSorted(([, a], [, b]) => a.sinceMicros - b.sinceMicros);
  if (oldest !== undefined) turn.removeEntry(membershipMap, oldest[0]);
}

/** If an administrator switches it off, the account makes no shared vaults, joins none and invites no users. */
export const mayCollaborate = (view: View): boolean =>
  settingValue(view, 'COLLABORATION_ENABLED') !== 'false';

export const switchedOff = refuse.forbidden('Collaboration is switched off for this account.');
