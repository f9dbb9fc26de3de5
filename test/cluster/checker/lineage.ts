/**
 * Checks which writes took effect. Each state that any client received names its write, and each write names the
 * version that it replaced. So the effective writes of an item must form one line from its creation to the state that
 * a new device receives at the end. Every write that was acknowledged, or that anybody received, must be on that
 * line; a write with an unknown outcome may be on it. Only members of a shared vault write and receive its contents.
 */
import { countLeading } from '../../kit/sorted.ts';
import type { Seen, Timed, Write } from '../history.ts';
import { type Call, walk } from './calls.ts';
import type { Memberships } from './memberships.ts';
import type { Report } from './violation.ts';

export interface Effect extends Write {
  readonly user: string;
  readonly call: number;
  /** The position of its first sending in the history. */
  readonly sent: number;
  /** The highest version in its collection that was acknowledged before it was sent. */
  readonly floor: number;
  /** The position of its answer; infinite if there is none. */
  answered: number;
  /** Undefined while nothing shows that it took effect. */
  version: number | undefined;
  acknowledged: boolean;
}

/** The highest versions of an item that are known to have taken effect, of all writes sent so far; 0 if there is none. */
interface Highest {
  readonly sent: number;
  readonly version: number;
  /** Of the writes that deleted it. */
  readonly deleted: number;
}

export class Lineage {
  readonly #report: Report;
  readonly #memberships: Memberships;
  readonly #end: number;
  readonly #byNonce = new Map<string, Effect>();
  readonly #byVersion = new Map<string, Effect>();
  /** Keyed by uuid, in the order of sending. */
  readonly #items = new Map<string, Effect[]>();
  readonly #acknowledgedMax = new Map<string, number>();
  /** Keyed by uuid, and made when first asked for, which is after the constructor. */
  readonly #highestOf = new Map<string, readonly Highest[]>();

  constructor(entries: readonly Timed[], memberships: Memberships, report: Report) {
    this.#report = report;
    this.#memberships = memberships;
    this.#end = entries.length;
    for (const { at, entry, call } of walk(entries)) {
      if (entry.event === 'sent' && call !== undefined) this.#sent(call, at);
      if (entry.event === 'answered' && call !== undefined) {
        const reading = { user: call.user, from: call.lastSent, to: at };
        for (const seen of entry.retrieved) this.#seen(seen, reading);
        for (const { stored } of entry.conflicts) if (stored !== undefined) this.#seen(stored, reading);
        this.#saved(call, entry, at);
      }
      if (entry.event !== 'final') continue;
      for (const seen of entry.everything) this.#seen(seen, { user: entry.user, from: at, to: at });
    }
    for (const writes of this.#items.values()) this.#checkLinks(writes.filter(isEffective));
    this.#checkFinal(entries.filter((entry) => entry.event === 'final'));
  }

  /** Whether anybody has tried to move the item to a place other than this one. */
  mayHaveMoved(uuid: string, from: string | undefined): boolean {
    return (this.#items.get(uuid) ?? []).some(({ vault }) => vault !== from);
  }

  /** Whether a write that had been sent by then deleted the item at this version or above. */
  isDeleted(uuid: string, version: number, sentBefore: number): boolean {
    return (this.#highest(uuid, sentBefore)?.deleted ?? 0) >= version;
  }

  /** Whether another write replaced this version, and had been sent by then. */
  isOvertaken(uuid: string, version: number, sentBefore: number): boolean {
    return (this.#highest(uuid, sentBefore)?.version ?? 0) > version;
  }

  effectAt(uuid: string, version: number): Effect | undefined {
    return this.#byVersion.get(`${uuid}@${version}`);
  }

  #highest(uuid: string, sentBefore: number): Highest | undefined {
    const known = this.#highestOf.get(uuid) ?? highestOf(this.#items.get(uuid) ?? []);
    this.#highestOf.set(uuid, known);
    return known[countLeading(known, ({ sent }) => sent < sentBefore) - 1];
  }

  #sent({ id, user, writes }: Call, at: number): void {
    for (const write of writes) {
      const floor = this.#acknowledgedMax.get(write.vault ?? user) ?? 0;
      const unknown = { answered: Number.POSITIVE_INFINITY, version: undefined, acknowledged: false };
      const effect: Effect = { ...write, user, call: id, sent: at, floor, ...unknown };
      this.#byNonce.set(write.nonce, effect);
      const others = this.#items.get(write.uuid);
      if (others === undefined) this.#items.set(write.uuid, [effect]);
      else others.push(effect);
    }
  }

  #saved(
    call: Call,
    answer: {
      saved: readonly { uuid: string; version: number }[];
      conflicts: readonly { uuid: string }[];
    },
    at: number,
  ): void {
    const { user } = call;
    const answered = [...answer.saved, ...answer.conflicts].map(({ uuid }) => uuid).sort();
    const sent = call.writes
      .filter((write) => answered.includes(write.uuid) || !this.#mayBePutOff(write))
      .map(({ uuid }) => uuid)
      .sort();
    for (const { nonce } of call.writes) {
      const effect = this.#byNonce.get(nonce);
      // Another attempt may still be at a paused node.
      if (effect !== undefined && call.firstSent === call.lastSent) effect.answered = at;
    }
    if (answered.join() !== sent.join()) {
      this.#report('unaccounted', user, `call ${call.id} sent ${sent} and was answered ${answered}`);
    }
    for (const { uuid, version } of answer.saved) {
      const write = call.writes.find((each) => each.uuid === uuid);
      const effect = write && this.#byNonce.get(write.nonce);
      if (effect === undefined) continue;
      this.#tookEffect(effect, version);
      effect.acknowledged = true;
      const collection = write?.vault ?? user;
      this.#acknowledgedMax.set(collection, Math.max(version, this.#acknowledgedMax.get(collection) ?? 0));
    }
  }

  /** The device asks again about items that may be in a vault it does not know yet. */
  #mayBePutOff({ uuid, base, vault }: Write): boolean {
    return vault === undefined && base !== 0 && this.mayHaveMoved(uuid, undefined);
  }

  #seen(seen: Seen, reading: Reading): void {
    const { user } = reading;
    const what = `${seen.uuid} at ${seen.version}, nonce ${seen.nonce}`;
    const effect = this.#byNonce.get(seen.nonce ?? '');
    if (!this.#mayRead(seen, effect, reading)) {
      const where = seen.vault === undefined ? '' : `, in ${seen.vault}`;
      this.#report('leak', user, `${what} is of ${effect?.user ?? seen.owner}${where}`);
    } else if (effect === undefined) {
      this.#report('unknown', user, what);
    } else if (!seen.whole || effect.uuid !== seen.uuid || effect.deleted !== seen.deleted) {
      this.#report('torn', user, `${what}, deleted ${seen.deleted}`);
    } else if (effect.vault !== seen.vault && !this.#mayHaveGoneHome(effect, seen, reading.to)) {
      this.#report('torn', user, `${what} lies in ${seen.vault} and was saved in ${effect.vault}`);
    } else {
      this.#tookEffect(effect, seen.version);
    }
  }

  #mayRead({ owner, vault }: Seen, effect: Effect | undefined, { user, from, to }: Reading): boolean {
    if (vault !== undefined) return this.#memberships.mayBelong(user, vault, from, to);
    return owner === user && (effect === undefined || effect.vault !== undefined || effect.user === user);
  }

  /** In its state in a vault that has ended. */
  #mayHaveGoneHome({ vault }: Effect, seen: Seen, before: number): boolean {
    return vault !== undefined && seen.vault === undefined && this.#memberships.mayHaveEnded(vault, before);
  }

  #tookEffect(effect: Effect, version: number): void {
    const key = `${effect.uuid}@${version}`;
    const other = this.#byVersion.get(key) ?? effect;
    if (effect.version !== undefined && effect.version !== version) {
      this.#report('applied-twice', effect.user, `${effect.nonce} at ${effect.version} and ${version}`);
    } else if (other !== effect) {
      this.#report('applied-twice', effect.user, `${key} is of ${other.nonce} and of ${effect.nonce}`);
    } else {
      effect.version = version;
      this.#byVersion.set(key, effect);
    }
  }

  #checkLinks(effective: readonly Effective[]): void {
    const byBase = new Map<number, Effective>();
    for (const effect of effective) {
      const { uuid, user, base, version, nonce } = effect;
      const what = `${uuid}: ${nonce} from ${base} to ${version}`;
      const other = byBase.get(base);
      if (other !== undefined) {
        this.#report('forked', user, `${what}, and ${other.nonce} to ${other.version}`);
      }
      byBase.set(base, effect);
      if (version <= base || version <= effect.floor) {
        this.#report('out-of-order', user, `${what}, after ${effect.floor} was acknowledged`);
      }
      const replaced = base === 0 ? undefined : this.effectAt(uuid, base);
      if (base !== 0 && replaced === undefined) this.#report('unknown', user, `the base of ${what}`);
      if (replaced?.deleted) this.#report('resurrected', user, what);
      if (!this.#isAllowed(effect, replaced)) {
        this.#report('forbidden', user, `${what}, in ${effect.vault} and before that in ${replaced?.vault}`);
      }
    }
  }

  #isAllowed({ uuid, user, vault, sent, answered }: Effective, replaced: Effect | undefined): boolean {
    const writes = (where: string) => this.#memberships.mayWrite(user, where, sent, answered);
    if (vault !== undefined && !writes(vault)) {
      // An owner may save a tombstone for a returned item that still names the vault.
      const isReturning = this.#memberships.mayHaveEnded(vault, answered) && this.#mayOwn(uuid, user);
      if (!isReturning) return false;
    }
    if (replaced === undefined || replaced.vault === vault) return true;
    const { vault: former } = replaced;
    const owns = this.#mayOwn(uuid, user);
    if (former !== undefined && writes(former) && (vault !== undefined || owns)) return true;
    const mayHaveEnded = former === undefined || this.#memberships.mayHaveEnded(former, answered);
    // It was its owner's from the start, has become so, or had no owner any more and was made anew.
    return mayHaveEnded && (owns || (former !== undefined && this.#mayBeNobodys(uuid, answered)));
  }

  #mayBeNobodys(uuid: string, before: number): boolean {
    const creator = this.#creatorOf(uuid);
    return creator !== undefined && this.#memberships.mayBeGone(creator, before);
  }

  #mayOwn(uuid: string, user: string): boolean {
    return this.#creatorOf(uuid) === user || this.#memberships.mayHaveInherited(user, this.#end);
  }

  #creatorOf(uuid: string): string | undefined {
    return this.#items.get(uuid)?.find(({ base }) => base === 0)?.user;
  }

  #checkFinal(finals: readonly { readonly user: string; readonly everything: readonly Seen[] }[]): void {
    const readers = new Set(finals.map(({ user }) => user));
    const last = new Map<string, number>();
    for (const { everything } of finals) {
      for (const { uuid, version } of everything) last.set(uuid, Math.max(version, last.get(uuid) ?? 0));
    }
    for (const [uuid, writes] of this.#items) {
      const effective = writes.filter(isEffective);
      const retained = this.#leadingTo(uuid, last.get(uuid) ?? this.#lastDeletion(effective));
      if (!last.has(uuid) && this.#mayBeGone(writes)) continue;
      for (const effect of effective) {
        const isRead = effect.vault === undefined ? readers.has(effect.user) : readers.size > 0;
        if (!isRead || retained.has(effect)) continue;
        const how = effect.acknowledged ? 'acknowledged' : 'given to a device';
        this.#report('lost', effect.user, `${effect.uuid}: ${effect.nonce} at ${effect.version} was ${how}`);
      }
    }
  }

  #leadingTo(uuid: string, version: number): ReadonlySet<Effect> {
    const retained = new Set<Effect>();
    let effect = this.effectAt(uuid, version);
    while (effect !== undefined && !retained.has(effect)) {
      retained.add(effect);
      effect = this.effectAt(uuid, effect.base);
    }
    return retained;
  }

  /** In a vault, whose tombstones go only to devices that have the item. */
  #lastDeletion(effective: readonly Effective[]): number {
    const deletions = effective.filter(({ deleted, vault }) => deleted && vault !== undefined);
    return Math.max(0, ...deletions.map(({ version }) => version));
  }

  /** Items go with the account of their owner, except those in other users' vaults. */
  #mayBeGone(writes: readonly Effect[]): boolean {
    const lastVersion = Math.max(0, ...writes.map(({ version = 0 }) => version));
    const creator = writes.find(({ base }) => base === 0)?.user ?? '';
    return writes
      .filter(({ version }) => version === undefined || version === lastVersion)
      .some(({ user, vault }) =>
        vault === undefined
          ? this.#memberships.mayBeGone(user, this.#end)
          : this.#memberships.mayHaveEnded(vault, this.#end) &&
            this.#memberships.mayBeGone(creator, this.#end),
      );
  }
}

/** The recipient of something, and the positions between which they received it. */
interface Reading {
  readonly user: string;
  readonly from: number;
  readonly to: number;
}

type Effective = Effect & { readonly version: number };

function isEffective(effect: Effect): effect is Effective {
  return effect.version !== undefined;
}

/** After each write, in the order of their sending. */
function highestOf(writes: readonly Effect[]): readonly Highest[] {
  let [version, deleted] = [0, 0];
  return writes.filter(isEffective).map((write) => {
    version = Math.max(version, write.version);
    if (write.deleted) deleted = Math.max(deleted, write.version);
    return { sent: write.sent, version, deleted };
  });
}
