/**
 * What the syncs of a device add up to, from nothing but its own answers: it never goes back, after every complete
 * sync it holds whatever was acknowledged to anybody before that sync was sent (unless something newer was in flight
 * to the same item), and at the end it is what a new device is given.
 */
import type { Entry, Seen, Timed } from '../history.ts';
import { type Call, walk } from './calls.ts';
import type { Lineage } from './lineage.ts';
import type { Report } from './violation.ts';

interface Held {
  readonly version: number;
  readonly deleted: boolean;
}

interface Acknowledged {
  readonly at: number;
  readonly uuid: string;
  readonly version: number;
}

interface Replica {
  readonly user: string;
  readonly items: Map<string, Held>;
  /** Where the last sending of its sync's first page stands in the history. */
  syncBegun: number;
  /** How many of the user's acknowledged writes were looked for in it. */
  compared: number;
}

type Answer = Extract<Entry, { event: 'answered' }>;

export class Replicas {
  readonly #report: Report;
  readonly #lineage: Lineage;
  readonly #replicas = new Map<string, Replica>();
  readonly #acknowledged = new Map<string, Acknowledged[]>();

  constructor(entries: readonly Timed[], lineage: Lineage, report: Report) {
    this.#report = report;
    this.#lineage = lineage;
    const firstPages = new Set<number>();
    for (const { at, entry, call } of walk(entries)) {
      if (entry.event === 'opened') this.#open(entry.device, entry.user);
      if (entry.event === 'closing') this.#replicas.delete(entry.device);
      if (entry.event === 'sent' && !entry.continues) firstPages.add(entry.call);
      if (entry.event === 'final') this.#final(entry.user, entry.everything, entry.live);
      const replica = call && this.#replicas.get(call.device);
      if (call === undefined || replica === undefined) continue;
      const isSending = entry.event === 'sent' || entry.event === 'repeated';
      if (isSending && firstPages.has(call.id)) replica.syncBegun = at;
      if (entry.event === 'answered') this.#answered(replica, call, entry, at);
      if (entry.event === 'compared') this.#compared(replica, call, entry.mismatches);
    }
  }

  #open(device: string, user: string): void {
    this.#replicas.set(device, { user, items: new Map(), syncBegun: 0, compared: 0 });
  }

  #answered(replica: Replica, call: Call, answer: Answer, at: number): void {
    for (const seen of answer.retrieved) this.#take(replica, call, seen);
    for (const { uuid, version } of answer.saved) {
      const write = call.writes.find((each) => each.uuid === uuid);
      if (write === undefined) continue;
      this.#take(replica, call, { uuid, version, deleted: write.deleted });
      this.#acknowledge(replica.user, { at, uuid, version });
    }
    for (const { stored } of answer.conflicts) if (stored !== undefined) this.#take(replica, call, stored);
    if (answer.complete) this.#findAcknowledged(replica, call, at);
  }

  #take({ user, items }: Replica, call: Call, { uuid, version, deleted }: Held & { uuid: string }): void {
    const held = items.get(uuid);
    const what = `${uuid}: call ${call.id} of ${call.device}`;
    if (held !== undefined && version < held.version) {
      this.#report('went-back', user, `${what} gave ${version} after ${held.version}`);
      return;
    }
    if (held?.deleted && !deleted) this.#report('resurrected', user, `${what} gave ${version}`);
    items.set(uuid, { version, deleted });
  }

  #acknowledge(user: string, acknowledged: Acknowledged): void {
    const all = this.#acknowledged.get(user);
    if (all === undefined) this.#acknowledged.set(user, [acknowledged]);
    else all.push(acknowledged);
  }

  #findAcknowledged(replica: Replica, call: Call, answeredAt: number): void {
    const all = this.#acknowledged.get(replica.user) ?? [];
    for (; replica.compared < all.length; replica.compared += 1) {
      const wanted = all[replica.compared];
      if (wanted === undefined || wanted.at > replica.syncBegun) return;
      const held = replica.items.get(wanted.uuid);
      if (held !== undefined && held.version >= wanted.version) continue;
      // An item stands where it was last written: one that is written while a sync is read comes with the next one.
      if (this.#lineage.isOvertaken(wanted.uuid, wanted.version, answeredAt)) continue;
      // A first sync leaves tombstones out.
      const isGone = this.#lineage.isDeleted(wanted.uuid, wanted.version, answeredAt);
      if (held === undefined && isGone) continue;
      const has = held === undefined ? 'without it' : `at ${held.version}`;
      this.#report(
        'skipped',
        replica.user,
        `${wanted.uuid}: ${wanted.version} was acknowledged, and call ${call.id} leaves ${call.device} ${has}`,
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
    const compare = (name: string, items: Iterable<Held & { uuid: string }>): void => {
      const found = liveOf(items);
      const different = [...found, ...expected].filter((each) => !(found.has(each) && expected.has(each)));
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

function liveOf(items: Iterable<Held & { uuid: string }>): ReadonlySet<string> {
  return new Set(
    [...items].filter(({ deleted }) => !deleted).map(({ uuid, version }) => `${uuid}@${version}`),
  );
}
