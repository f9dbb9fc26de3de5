/**
 * Checks each device's replica, built from nothing but the answers to its syncs. It never goes back. After a complete
 * sync it holds every write acknowledged before that sync was sent. The exception is a newer write to the same item
 * in flight. At the end it equals what a new device receives. It covers the collections of its user: their own, and
 * each vault in which they are a member.
 */
import type { Entry, Seen, Timed } from '../history.ts';
import { type Call, walk } from './calls.ts';
import type { Lineage } from './lineage.ts';
import type { Memberships } from './memberships.ts';
import type { Report } from './violation.ts';

interface HeldCopy {
  readonly version: number;
  readonly deleted: boolean;
  readonly vault?: string;
}

interface Acknowledged {
  readonly at: number;
  readonly uuid: string;
  readonly version: number;
}

interface Replica {
  readonly user: string;
  readonly items: Map<string, HeldCopy>;
  /** The position in the history of the last sending of its sync's first page. */
  syncBegun: number;
  /** Keyed by collection, the number of its acknowledged writes that the check has already looked for. */
  readonly compared: Map<string, number>;
}

type Answer = Extract<Entry, { event: 'answered' }>;

export class Replicas {
  readonly #report: Report;
  readonly #lineage: Lineage;
  readonly #memberships: Memberships;
  readonly #replicas = new Map<string, Replica>();
  /** Keyed by collection. */
  readonly #acknowledged = new Map<string, Acknowledged[]>();

  constructor(
    entries: readonly Timed[],
    { lineage, memberships }: { readonly lineage: Lineage; readonly memberships: Memberships },
    report: Report,
  ) {
    this.#report = report;
    this.#lineage = lineage;
    this.#memberships = memberships;
    const firstPages = new Set<number>();
    const named = new Set<number>();
    for (const { at, entry, call } of walk(entries)) {
      if (entry.event === 'opened') this.#open(entry.device, entry.user);
      if (entry.event === 'closing') this.#replicas.delete(entry.device);
      if (entry.event === 'sent' && !entry.continues) firstPages.add(entry.call);
      if (entry.event === 'sent' && entry.named) named.add(entry.call);
      if (entry.event === 'final') this.#final(entry.user, entry.everything, entry.live);
      const replica = call && this.#replicas.get(call.device);
      if (call === undefined || replica === undefined) continue;
      // A named sync is answered from where its first attempt began.
      const isSending = entry.event === 'sent' || (entry.event === 'repeated' && !named.has(call.id));
      if (isSending && firstPages.has(call.id)) replica.syncBegun = at;
      if (entry.event === 'answered') this.#answered(replica, call, entry, at);
      if (entry.event === 'compared') this.#compared(replica, call, entry.mismatches);
    }
  }

  #open(device: string, user: string): void {
    this.#replicas.set(device, { user, items: new Map(), syncBegun: 0, compared: new Map() });
  }

  #answered(replica: Replica, call: Call, answer: Answer, at: number): void {
    for (const vault of answer.dropped ?? []) drop(replica, vault);
    for (const seen of answer.retrieved) this.#take(replica, call, seen);
    for (const { uuid, version } of answer.saved) {
      const write = call.writes.find((each) => each.uuid === uuid);
      if (write === undefined) continue;
      this.#take(replica, call, { ...write, version });
      this.#acknowledge(write.vault ?? replica.user, { at, uuid, version });
    }
    for (const { stored } of answer.conflicts) if (stored !== undefined) this.#take(replica, call, stored);
    if (answer.complete) this.#findAcknowledged(replica, call, at);
  }

  #take({ user, items }: Replica, call: Call, received: HeldCopy & { uuid: string }): void {
    const { uuid, version, deleted, vault } = received;
    const held = items.get(uuid);
    const what = `${uuid}: call ${call.id} of ${call.device}`;
    if (held !== undefined && version < held.version) {
      // While an item moves, a sync may show it in both places.
      if (held.vault !== vault) return;
      this.#report('went-back', user, `${what} gave ${version} after ${held.version}`);
      return;
    }
    if (held?.deleted && !deleted) this.#report('resurrected', user, `${what} gave ${version}`);
    items.set(uuid, { version, deleted, ...(vault !== undefined && { vault }) });
  }

  #acknowledge(collection: string, acknowledged: Acknowledged): void {
    const all = this.#acknowledged.get(collection);
    if (all === undefined) this.#acknowledged.set(collection, [acknowledged]);
    else all.push(acknowledged);
  }

  #findAcknowledged(replica: Replica, call: Call, answeredAt: number): void {
    const { user, syncBegun } = replica;
    const isRead = (vault: string) => this.#memberships.surelyBelongs(user, vault, syncBegun, answeredAt);
    for (const collection of [user, ...[...this.#memberships.vaultsOf(user)].filter(isRead)]) {
      this.#findAcknowledgedIn(collection, replica, call, answeredAt);
    }
  }

  #findAcknowledgedIn(collection: string, replica: Replica, call: Call, answeredAt: number): void {
    const all = this.#acknowledged.get(collection) ?? [];
    const { compared, user } = replica;
    const begin = compared.get(collection);
    const isFirst = begin === undefined;
    compared.set(collection, begin ?? 0);
    for (let next = begin ?? 0; next < all.length; next += 1) {
      compared.set(collection, next);
      const expected = all[next];
      if (expected === undefined || expected.at > replica.syncBegun) return;
      compared.set(collection, next + 1);
      const held = replica.items.get(expected.uuid);
      if (held !== undefined && held.version >= expected.version) continue;
      // The position of an item is its last write. An item written while a sync is read comes with the next one.
      if (this.#lineage.isOvertaken(expected.uuid, expected.version, answeredAt)) continue;
      // A first sync leaves tombstones out, including those of items that moved here while the device has them
      // elsewhere.
      const isGone = this.#lineage.isDeleted(expected.uuid, expected.version, answeredAt);
      const isInAnotherCollection = isFirst && (held?.vault ?? user) !== collection;
      if (isGone && (held === undefined || isInAnotherCollection)) continue;
      const has = held === undefined ? 'without it' : `at ${held.version}`;
      this.#report(
        'skipped',
        user,
        `${expected.uuid}: ${expected.version} was acknowledged, and call ${call.id} leaves ${call.device} ${has}`,
      );
    }
  }

  #compared(
    { user, items }: Replica,
    call: Call,
    mismatches: readonly { readonly uuid: string; readonly version: number }[],
  ): void {
    for (const { uuid, version } of mismatches) {
      const held = items.get(uuid);
      const isTrue = held === undefined || (version > held.version && !held.deleted);
      const isWritten = this.#lineage.effectAt(uuid, version) !== undefined;
      if (isTrue && isWritten) continue;
      this.#report('false-mismatch', user, `${uuid} at ${version}: call ${call.id} of ${call.device}`);
    }
  }

  #final(user: string, everything: readonly Seen[], live: readonly Seen[]): void {
    for (const seen of [everything, live]) {
      const uuids = seen.map(({ uuid }) => uuid);
      const again = uuids.filter((uuid, index) => uuids.indexOf(uuid) !== index);
      if (again.length > 0) this.#report('duplicate', user, again.join(' '));
    }
    const expected = liveOf(live);
    const compare = (name: string, items: Iterable<HeldCopy & { uuid: string }>): void => {
      const all = [...items];
      // Nobody notifies members that an item has moved to a vault of others.
      const left = all.filter(
        ({ uuid, vault }) => vault !== undefined && this.#lineage.mayHaveMoved(uuid, vault),
      );
      const ignored = liveOf(left);
      const found = liveOf(all);
      const different = [...found, ...expected].filter(
        (each) => !(found.has(each) && expected.has(each)) && !(found.has(each) && ignored.has(each)),
      );
      if (different.length > 0) this.#report('diverged', user, `${name}: ${different.join(' ')}`);
    };
    compare('with tombstones', everything);
    for (const [device, replica] of this.#replicas) {
      if (replica.user !== user) continue;
      compare(
        device,
        [...replica.items].map(([uuid, held]) => ({ uuid, ...held })),
      );
    }
  }
}

/** All of it comes again once the user is a member again. */
function drop({ items, compared }: Replica, vault: string): void {
  compared.delete(vault);
  for (const [uuid, held] of items) if (held.vault === vault) items.delete(uuid);
}

function liveOf(items: Iterable<HeldCopy & { uuid: string }>): ReadonlySet<string> {
  return new Set(
    [...items].filter(({ deleted }) => !deleted).map(({ uuid, version }) => `${uuid}@${version}`),
  );
}
