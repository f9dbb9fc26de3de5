/**
 * The page that a sync gives back (docs/protocol/sync.md, "What comes back"). It has the rows after the client's position, in
 * order, cut by count and bytes, and the tokens to continue with.
 *
 * - Retrieval shows the collection as it was before the call's own saves. A version that was due and is saved over
 *   in the same call is still given: the client keeps both texts.
 * - A token never passes a row that the client has not received. It is the head that the range was read up to or, if the page was
 *   cut, the last row that fitted. Rows the call itself saved need not come back, so a complete page's token is the head after
 *   them.
 * - A cut page's sync token is its cursor: a client that loses its cursor goes on at the right place.
 * - Items that may be leaving are passed over. Their target may have given clients a newer state, which this one must not
 *   follow. However the transfer ends, the item gets a position that no client has had yet, here or there.
 */
import { type RangePlan, type RangeResult, range } from '../../runtime/command.ts';
import type { Head } from './head.ts';
import { type ItemRow, item, transferVersionOf } from './item.ts';
import { firstPageContentTypes } from './item-fields.ts';
import { type Cursor, encodeToken, type Start, tokenAt } from './token.ts';

export interface PageLimits {
  readonly items: number;
  readonly bytes: number;
}

const pageItemsDefault = 150;
const pageItemsMax = 300;

/**
 * Keys, preferences and themes are few and small; this only bounds accounts that are not used for notes. The
 * limits of a page do not apply to them: without its keys a client can show nothing.
 */
const frontItemsMax = 1_000;
const frontBytesMax = 32 * 1024 * 1024;

/** The page size a client asked for, within what the server gives. */
export function pageItems(limit: number | null | undefined): number {
  if (limit === null || limit === undefined || !(limit >= 1)) return pageItemsDefault;
  return Math.min(Math.floor(limit), pageItemsMax);
}

type ItemRange = RangePlan<typeof item>;

/** Columns that clients do not get are not read. */
const {
  created_position: _created,
  fingerprint: _fingerprint,
  revisions: _revisions,
  revised_at: _revised,
  revision_uuid: _revision,
  born: _born,
  hop: _hop,
  moved_to: _movedTo,
  ...readerColumns
} = item.columns;
export const responseColumns = Object.keys(readerColumns) as (keyof typeof readerColumns)[];
const ownColumns = [...responseColumns, 'hop'] as const;

export function changesPlan(start: Start, head: Head, limits: PageLimits): ItemRange {
  return range(item, {
    after: start.after,
    through: head.position,
    limit: limits.items,
    budgetBytes: limits.bytes,
    columns: ownColumns,
    subset: start.first ? 'live' : 'present',
  });
}

const end = Number.MAX_SAFE_INTEGER;
const nothing = range(item, { after: end, through: end, limit: 0 });

/** Rows that a first sync gives ahead of everything else, so that the client can decrypt its first page. */
export function frontPlan(start: Start, head: Head): ItemRange {
  if (!start.first) return nothing;
  return range(item, {
    after: 0,
    through: head.position,
    limit: frontItemsMax,
    budgetBytes: frontBytesMax,
    columns: ownColumns,
    subset: 'front',
  });
}

/** One page of items, before it is encoded for the client. */
export interface ItemPage {
  readonly rows: readonly ItemRow[];
  /** The page contains everything up to this position. */
  readonly reached: number;
  readonly complete: boolean;
}

type ItemRows = RangeResult<typeof item>;

/** `bound` is the position of the head that the range was read up to; `moving`, the transfer versions of items that may be leaving. */
export function itemPageOf({
  changes,
  front,
  start,
  bound,
  moving = new Map(),
}: {
  readonly changes: ItemRows;
  readonly front: ItemRows;
  readonly start: Start;
  readonly bound: number;
  readonly moving?: ReadonlyMap<string, number>;
}): ItemPage {
  const reached = Math.max(start.after, changes.complete ? bound : changes.upTo);
  const rows = start.first ? withFront(changes.rows, front.rows) : changes.rows;
  return { rows: staying(rows, moving), reached, complete: changes.complete };
}

/** Without items that may be leaving. */
export function staying(rows: readonly ItemRow[], moving: ReadonlyMap<string, number>): readonly ItemRow[] {
  if (moving.size === 0) return rows;
  return rows.filter((row) => moving.get(row.uuid) !== transferVersionOf(row));
}

/** A position identifies one version of one item, so comparing positions keeps a version from coming twice. */
function withFront(rows: readonly ItemRow[], front: readonly ItemRow[]): readonly ItemRow[] {
  const ahead = front.filter((row) => !row.deleted && isFront(row));
  if (ahead.length === 0) return rows;
  const positionsAhead = new Set(ahead.map((row) => row.position));
  return [...ahead, ...rows.filter((row) => !positionsAhead.has(row.position))];
}

const frontTypes: ReadonlySet<string | null> = new Set(firstPageContentTypes);

function isFront(row: ItemRow): boolean {
  return frontTypes.has(row.content_type);
}

export interface Tokens {
  readonly sync_token: string;
  /** Only when another page follows. */
  readonly cursor_token?: string;
}

/**
 * The tokens of a page that ends at `position`. Clients page on as long as they get a cursor, so a page without items must carry
 * none (`more` false). Its sync token still moves on.
 */
export function tokensOf({
  collection,
  generation,
  head,
  position,
  more,
  others = [],
}: {
  readonly collection: string;
  readonly generation: string;
  readonly head: Head;
  readonly position: number;
  readonly more: boolean;
  readonly others?: readonly Cursor[];
}): Tokens {
  const token =
    others.length === 0
      ? tokenAt(collection, generation, head, position)
      : encodeToken([{ collection, generation, position }, ...others]);
  return more ? { sync_token: token, cursor_token: token } : { sync_token: token };
}
