/**
 * The negative cache of one actor's cross-owner reads: which owners have nothing for it after which position. An entry holds
 * for as long as the owner commits nothing, since only a commit can bring or remove a row, be it of the table or of the
 * membership table. Until then the owner is not read again.
 * For an owner with an unchanged-since marker here (unchanged-since.ts) this is known without asking. For any other its version
 * tells, which grows with each commit. What the owner still shows is not kept.
 *
 * Both are taken before the read: where the owner commits before that is answered, it has another marker, or another version,
 * the next time.
 */
import { type Address, addressKey } from '../address.ts';
import type { AskedOwner, CrossOwnerPlan } from '../command.ts';
import type { AnyTable } from '../table.ts';
import type { UnchangedSince, UnchangedSinceMarkers } from './unchanged-since.ts';

/** With its part of the plans and results that are kept for a reader who finds nothing time and again. */
const foundBytes = 400;

/** By what one can tell later that an owner has committed nothing since: its marker, or its version. */
type Since = UnchangedSince | number;

/** Nothing for this member after this position, in this part of the table. */
interface Found {
  readonly since: Since;
  readonly membershipTable: AnyTable;
  readonly member: string;
  readonly after: number;
  readonly subset: string | undefined;
}

/** An owner that the database is asked for, and how it stood before. */
export interface AskedSince {
  readonly asked: AskedOwner;
  readonly since: Since | undefined;
}

/** Versions of actors, by the keys of their addresses, as the database has said. */
export type Versions = ReadonlyMap<string, number>;

// biome-ignore lint/suspicious/noExplicitAny: a plan over any table
type AnyCrossOwnerPlan = CrossOwnerPlan<any>;

export interface NegativeCacheOptions {
  readonly unchangedMarkers: Pick<UnchangedSinceMarkers, 'of' | 'holds'>;
  /** The kind whose actors authorize by this table. */
  kindOf(membershipTable: AnyTable): string | undefined;
}

export class NegativeCache {
  readonly #options: NegativeCacheOptions;
  /** By table and owner. */
  readonly #found = new Map<AnyTable, Map<string, Found>>();
  /**
   * Plans whose owners all had nothing while these markers held. A caller that makes the same plan time and again need not
   * look up each owner.
   */
  readonly #quiet = new WeakMap<AnyCrossOwnerPlan, readonly UnchangedSince[]>();

  constructor(options: NegativeCacheOptions) {
    this.#options = options;
  }

  /** What it takes in memory, about. */
  get bytes(): number {
    let entries = 0;
    for (const found of this.#found.values()) entries += found.size;
    return entries * foundBytes;
  }

  /** As is known here: all owners of the plan authorize the reader, and have nothing. */
  isQuiet(plan: AnyCrossOwnerPlan): boolean {
    const unchangedMarkers = this.#quiet.get(plan);
    return unchangedMarkers?.every((marker) => this.#options.unchangedMarkers.holds(marker)) ?? false;
  }

  /** The owners of a plan whose versions are to be asked for first, as nothing is known of them here. */
  unknown({ membership, owners }: AnyCrossOwnerPlan): readonly Address[] {
    const kind = this.#options.kindOf(membership.table);
    if (kind === undefined) return [];
    const unknown: Address[] = [];
    for (const { owner } of owners) {
      const address = { kind, id: owner };
      if (this.#options.unchangedMarkers.of(address) === undefined) unknown.push(address);
    }
    return unknown;
  }

  /** The owners of a plan that may have something. All others authorize the reader and have nothing. */
  open(plan: AnyCrossOwnerPlan, versions: Versions): readonly AskedSince[] {
    const { table, membership, owners } = plan;
    const found = this.#found.get(table);
    const kind = this.#options.kindOf(membership.table);
    const open: AskedSince[] = [];
    const unchangedMarkers: UnchangedSince[] = [];
    for (const asked of owners) {
      const known = found?.get(asked.owner);
      const since = kind === undefined ? undefined : this.#now({ kind, id: asked.owner }, versions);
      const isAnswer = known !== undefined && isAnswered(known, membership, asked);
      if (!isAnswer || known.since !== since) open.push({ asked, since });
      else if (typeof since === 'object') unchangedMarkers.push(since);
    }
    if (unchangedMarkers.length === owners.length) this.#quiet.set(plan, unchangedMarkers);
    return open;
  }

  #now(address: Address, versions: Versions): Since | undefined {
    return this.#options.unchangedMarkers.of(address) ?? versions.get(addressKey(address));
  }

  /** Notes that an owner of this plan, asked since then, has nothing after this position. */
  note({ table, membership, owners }: AnyCrossOwnerPlan, { asked, since }: AskedSince, after: number): void {
    if (since === undefined) return;
    const found = this.#of(table);
    found.set(asked.owner, {
      since,
      membershipTable: membership.table,
      member: membership.member,
      after,
      subset: asked.subset,
    });
    if (found.size > owners.length) keepOnly(found, owners);
  }

  #of(table: AnyTable): Map<string, Found> {
    const known = this.#found.get(table);
    if (known !== undefined) return known;
    const found = new Map<string, Found>();
    this.#found.set(table, found);
    return found;
  }
}

function isAnswered(
  { membershipTable, member, after, subset }: Found,
  reader: AnyCrossOwnerPlan['membership'],
  asked: AskedOwner,
): boolean {
  const isOfThis = after <= asked.after && subset === asked.subset;
  return isOfThis && membershipTable === reader.table && member === reader.member;
}

/** Drops the owners that are no longer asked. */
function keepOnly(found: Map<string, Found>, owners: readonly AskedOwner[]): void {
  const asked = new Set(owners.map(({ owner }) => owner));
  for (const owner of found.keys()) if (!asked.has(owner)) found.delete(owner);
}
