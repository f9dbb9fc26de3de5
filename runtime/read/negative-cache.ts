/**
 * The negative cache of one actor's cross-owner reads: which owners have nothing for it after which position. An entry holds
 * while the owner commits nothing. Only a commit can add or remove a row of the table or of the membership table. Until then
 * the owner is not read again.
 *
 * The unchanged-since marker of an owner here (unchanged-since.ts) proves this without asking. For any other owner the version
 * proves it, because it grows with each commit. The cache does not keep rows.
 *
 * The marker or version is taken before the read. If the owner commits before the read is answered, it differs the next time.
 */
import { type Address, addressKey } from '../address.ts';
import type { CrossOwnerPlan, RequestedOwner } from '../command.ts';
import type { AnyTable } from '../table.ts';
import type { UnchangedSince, UnchangedSinceMarkers } from './unchanged-since.ts';

/** Approximate bytes of one entry, with its part of the plans and results that are kept for an idle reader. */
const foundBytes = 400;

/** Shows later whether an owner has committed since: its marker, or its version. */
type Since = UnchangedSince | number;

/** Nothing for this member after this position, in this subset of the table. */
interface NothingFound {
  readonly since: Since;
  readonly membershipTable: AnyTable;
  readonly member: string;
  readonly after: number;
  readonly subset: string | undefined;
}

/** An owner to ask the database for, with its marker or version from before. */
export interface OwnerRequest {
  readonly entry: RequestedOwner;
  readonly since: Since | undefined;
}

/** A plan whose owners all had nothing while these markers held. */
interface QuietPlan {
  readonly version: number;
  readonly unchangedMarkers: readonly UnchangedSince[];
}

/** Versions from the database, keyed by the actors' addresses. */
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
  /** Keyed by table and owner. */
  readonly #found = new Map<AnyTable, Map<string, NothingFound>>();
  /** Keyed by table: the last plan with a version. If the reader repeats that plan, no owner need be looked up. */
  readonly #quiet = new Map<AnyTable, QuietPlan>();

  constructor(options: NegativeCacheOptions) {
    this.#options = options;
  }

  /** Approximate bytes in memory. */
  get bytes(): number {
    let entries = 0;
    for (const found of this.#found.values()) entries += found.size;
    return entries * foundBytes;
  }

  /** All owners of the plan authorize the reader and have nothing, as far as is known here. */
  isQuiet({ table, version }: AnyCrossOwnerPlan): boolean {
    const quiet = this.#quiet.get(table);
    if (quiet === undefined || quiet.version !== version) return false;
    return quiet.unchangedMarkers.every((marker) => this.#options.unchangedMarkers.holds(marker));
  }

  /** The owners of a plan that are not known here, whose versions have to be asked for first. */
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
  open(plan: AnyCrossOwnerPlan, versions: Versions): readonly OwnerRequest[] {
    const { table, membership, owners, version } = plan;
    const found = this.#found.get(table);
    const kind = this.#options.kindOf(membership.table);
    const open: OwnerRequest[] = [];
    const unchangedMarkers: UnchangedSince[] = [];
    for (const entry of owners) {
      const known = found?.get(entry.owner);
      const since = kind === undefined ? undefined : this.#now({ kind, id: entry.owner }, versions);
      const isAnswer = known !== undefined && isAnswered(known, membership, entry);
      if (!isAnswer || known.since !== since) open.push({ entry, since });
      else if (typeof since === 'object') unchangedMarkers.push(since);
    }
    if (version !== undefined && unchangedMarkers.length === owners.length)
      this.#quiet.set(table, { version, unchangedMarkers });
    return open;
  }

  #now(address: Address, versions: Versions): Since | undefined {
    return this.#options.unchangedMarkers.of(address) ?? versions.get(addressKey(address));
  }

  /** Notes that an owner of this plan, asked since then, has nothing after this position. */
  note(
    { table, membership, owners }: AnyCrossOwnerPlan,
    { entry, since }: OwnerRequest,
    after: number,
  ): void {
    if (since === undefined) return;
    const found = this.#of(table);
    found.set(entry.owner, {
      since,
      membershipTable: membership.table,
      member: membership.member,
      after,
      subset: entry.subset,
    });
    if (found.size > owners.length) keepOnly(found, owners);
  }

  #of(table: AnyTable): Map<string, NothingFound> {
    const known = this.#found.get(table);
    if (known !== undefined) return known;
    const found = new Map<string, NothingFound>();
    this.#found.set(table, found);
    return found;
  }
}

function isAnswered(
  { membershipTable, member, after, subset }: NothingFound,
  reader: AnyCrossOwnerPlan['membership'],
  entry: RequestedOwner,
): boolean {
  const isOfThis = after <= entry.after && subset === entry.subset;
  return isOfThis && membershipTable === reader.table && member === reader.member;
}

/** Drops the owners that are no longer asked. */
function keepOnly(found: Map<string, NothingFound>, owners: readonly RequestedOwner[]): void {
  const uuids = new Set(owners.map(({ owner }) => owner));
  for (const owner of found.keys()) if (!uuids.has(owner)) found.delete(owner);
}
