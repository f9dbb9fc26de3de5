/**
 * What one actor has found on its visits: at which owners there is nothing for it after which position. It holds for as long as the
 * owner's lull lasts (lulls.ts), in which neither a row nor the guard's can come or go, so that owner is not visited
 * again before. What the owner still shows is not kept.
 *
 * The lull is taken before the database is asked. One that is over when the answer comes says nothing.
 */
import type { Visited, VisitPlan } from '../command.ts';
import type { AnyTable } from '../table.ts';
import type { Lull, Lulls } from './lulls.ts';

/** With its part of the plans and results that are kept for a reader who finds nothing time and again. */
const foundBytes = 400;

/** Nothing for this member after this position, in this part of the table. */
interface Found {
  readonly lull: Lull;
  readonly guard: AnyTable;
  readonly member: string;
  readonly after: number;
  readonly subset: string | undefined;
}

/** An owner that the database is asked for, and the lull that it is in. */
export interface VisitedIn {
  readonly visited: Visited;
  readonly lull: Lull | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan over any table
type AnyVisit = VisitPlan<any>;

export interface FoundVisitsOptions {
  readonly lulls: Pick<Lulls, 'of' | 'lasts'>;
  /** The kind whose actors admit by this table. */
  kindOf(guard: AnyTable): string | undefined;
}

export class FoundVisits {
  readonly #options: FoundVisitsOptions;
  /** By table and owner. */
  readonly #found = new Map<AnyTable, Map<string, Found>>();

  constructor(options: FoundVisitsOptions) {
    this.#options = options;
  }

  /** What it takes in memory, about. */
  get bytes(): number {
    let entries = 0;
    for (const found of this.#found.values()) entries += found.size;
    return entries * foundBytes;
  }

  /** The owners of a plan that may have something. All others admit the reader and have nothing. */
  open({ table, guard, owners }: AnyVisit): readonly VisitedIn[] {
    const found = this.#found.get(table);
    const kind = this.#options.kindOf(guard.table);
    const { lulls } = this.#options;
    const open: VisitedIn[] = [];
    for (const visited of owners) {
      const known = found?.get(visited.owner);
      if (known !== undefined && this.#answers(known, guard, visited)) continue;
      const lull = kind === undefined ? undefined : lulls.of({ kind, id: visited.owner });
      open.push({ visited, lull });
    }
    return open;
  }

  #answers(
    { lull, guard, member, after, subset }: Found,
    asked: AnyVisit['guard'],
    visited: Visited,
  ): boolean {
    const isOfThis = after <= visited.after && subset === visited.subset;
    return isOfThis && guard === asked.table && member === asked.member && this.#options.lulls.lasts(lull);
  }

  /** Of this plan the owner, visited in this lull, has nothing after this position. */
  note({ table, guard, owners }: AnyVisit, { visited, lull }: VisitedIn, after: number): void {
    if (lull === undefined || lull.isOver) return;
    const found = this.#of(table);
    found.set(visited.owner, {
      lull,
      guard: guard.table,
      member: guard.member,
      after,
      subset: visited.subset,
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

/** Who is visited no more is forgotten. */
function keepOnly(found: Map<string, Found>, owners: readonly Visited[]): void {
  const visited = new Set(owners.map(({ owner }) => owner));
  for (const owner of found.keys()) if (!visited.has(owner)) found.delete(owner);
}
