/**
 * What took effect. Each state that any client was given names its write, and each write the version it replaced, so
 * the effective writes of an item have to form one line from its creation to the state a new device is given at the
 * end. Whatever was acknowledged, or given to anybody, has to be on that line; a write whose outcome nobody knows may
 * be on it or not.
 */
import type { Seen, Timed, Write } from '../history.ts';
import { type Call, walk } from './calls.ts';
import type { Report } from './violation.ts';

export interface Effect extends Write {
  readonly user: string;
  readonly call: number;
  /** Place in the history of its first sending. */
  readonly sent: number;
  /** The highest version of this user that was acknowledged before it was sent. */
  readonly floor: number;
  /** Undefined while nothing shows that it took effect. */
  version: number | undefined;
  acknowledged: boolean;
}

export class Lineage {
  readonly #report: Report;
  readonly #byMark = new Map<string, Effect>();
  readonly #byVersion = new Map<string, Effect>();
  /** By uuid, in the order of sending. */
  readonly #items = new Map<string, Effect[]>();
  readonly #acknowledgedMax = new Map<string, number>();

  constructor(entries: readonly Timed[], report: Report) {
    this.#report = report;
    for (const { at, entry, call } of walk(entries)) {
      if (entry.event === 'sent' && call !== undefined) this.#sent(call, at);
      if (entry.event === 'answered' && call !== undefined) {
        for (const seen of entry.retrieved) this.#seen(seen, call.user);
        for (const { stored } of entry.conflicts) if (stored !== undefined) this.#seen(stored, call.user);
        this.#saved(call, entry);
      }
      if (entry.event === 'final') for (const seen of entry.everything) this.#seen(seen, entry.user);
    }
    for (const writes of this.#items.values()) this.#checkLinks(writes.filter(isEffective));
    for (const entry of entries) if (entry.event === 'final') this.#checkFinal(entry.user, entry.everything);
  }

  /** Whether the item was deleted, at this version or above it, by a write that had been sent by then. */
  isDeleted(uuid: string, version: number, sentBefore: number): boolean {
    return this.#anyOf(uuid, sentBefore, (write) => write.deleted && write.version >= version);
  }

  /** Whether another write took the place of this version, and had been sent by then. */
  isOvertaken(uuid: string, version: number, sentBefore: number): boolean {
    return this.#anyOf(uuid, sentBefore, (write) => write.version > version);
  }

  effectAt(uuid: string, version: number): Effect | undefined {
    return this.#byVersion.get(`${uuid}@${version}`);
  }

  #anyOf(uuid: string, sentBefore: number, is: (write: Effective) => boolean): boolean {
    const writes = this.#items.get(uuid) ?? [];
    return writes.some((write) => write.sent < sentBefore && isEffective(write) && is(write));
  }

  #sent({ id, user, writes }: Call, at: number): void {
    const floor = this.#acknowledgedMax.get(user) ?? 0;
    for (const write of writes) {
      const effect = { ...write, user, call: id, sent: at, floor, version: undefined, acknowledged: false };
      this.#byMark.set(write.mark, effect);
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
  ): void {
    const { user } = call;
    const answered = [...answer.saved, ...answer.conflicts].map(({ uuid }) => uuid).sort();
    const sent = call.writes.map(({ uuid }) => uuid).sort();
    if (answered.join() !== sent.join()) {
      this.#report('unaccounted', user, `call ${call.id} sent ${sent} and was answered ${answered}`);
    }
    for (const { uuid, version } of answer.saved) {
      const write = call.writes.find((each) => each.uuid === uuid);
      const effect = write && this.#byMark.get(write.mark);
      if (effect === undefined) continue;
      this.#tookEffect(effect, version);
      effect.acknowledged = true;
      this.#acknowledgedMax.set(user, Math.max(version, this.#acknowledgedMax.get(user) ?? 0));
    }
  }

  #seen(seen: Seen, reader: string): void {
    const what = `${seen.uuid} at ${seen.version}, mark ${seen.mark}`;
    const effect = this.#byMark.get(seen.mark ?? '');
    if (seen.owner !== reader || (effect !== undefined && effect.user !== reader)) {
      this.#report('leak', reader, `${what} is of ${effect?.user ?? seen.owner}`);
    } else if (effect === undefined) {
      this.#report('unknown', reader, what);
    } else if (!seen.whole || effect.uuid !== seen.uuid || effect.deleted !== seen.deleted) {
      this.#report('torn', reader, `${what}, deleted ${seen.deleted}`);
    } else {
      this.#tookEffect(effect, seen.version);
    }
  }

  #tookEffect(effect: Effect, version: number): void {
    const key = `${effect.uuid}@${version}`;
    const other = this.#byVersion.get(key) ?? effect;
    if (effect.version !== undefined && effect.version !== version) {
      this.#report('applied-twice', effect.user, `${effect.mark} at ${effect.version} and ${version}`);
    } else if (other !== effect) {
      this.#report('applied-twice', effect.user, `${key} is of ${other.mark} and of ${effect.mark}`);
    } else {
      effect.version = version;
      this.#byVersion.set(key, effect);
    }
  }

  #checkLinks(effective: readonly Effective[]): void {
    const byBase = new Map<number, Effective>();
    for (const effect of effective) {
      const { uuid, user, base, version, mark } = effect;
      const what = `${uuid}: ${mark} from ${base} to ${version}`;
      const other = byBase.get(base);
      if (other !== undefined) {
        this.#report('forked', user, `${what}, and ${other.mark} to ${other.version}`);
      }
      byBase.set(base, effect);
      if (version <= base || version <= effect.floor) {
        this.#report('out-of-order', user, `${what}, after ${effect.floor} was acknowledged`);
      }
      const replaced = base === 0 ? undefined : this.effectAt(uuid, base);
      if (base !== 0 && replaced === undefined) this.#report('unknown', user, `the base of ${what}`);
      if (replaced?.deleted) this.#report('resurrected', user, what);
    }
  }

  #checkFinal(user: string, everything: readonly Seen[]): void {
    const kept = new Set<Effect>();
    for (const { uuid, version } of everything) {
      let effect = this.effectAt(uuid, version);
      while (effect !== undefined && !kept.has(effect)) {
        kept.add(effect);
        effect = this.effectAt(uuid, effect.base);
      }
    }
    for (const writes of this.#items.values()) {
      for (const effect of writes) {
        if (effect.user !== user || !isEffective(effect) || kept.has(effect)) continue;
        const how = effect.acknowledged ? 'acknowledged' : 'given to a device';
        this.#report('lost', user, `${effect.uuid}: ${effect.mark} at ${effect.version} was ${how}`);
      }
    }
  }
}

type Effective = Effect & { readonly version: number };

function isEffective(effect: Effect): effect is Effective {
  return effect.version !== undefined;
}
