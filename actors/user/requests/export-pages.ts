/**
 * The pages of a download. Its parts follow each other. Each part has the account's own rows first, and then those in each
 * vault, in the order of the vaults' uuids. The row of the member decides, at the moment of the page, what a vault shows
 * (docs/protocol/account.md, "Requests").
 */

import {
  type CrossOwnerPlan,
  crossOwner,
  type RangePlan,
  range,
  type View,
} from '../../../runtime/command.ts';
import type { AnyTable, RowOf } from '../../../runtime/table.ts';
import { head } from '../../collection/head.ts';
import { item } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { responseColumns } from '../../collection/retrieve.ts';
import { revisionBodyOf } from '../../collection/revisions/read.ts';
import { revision } from '../../collection/revisions/table.ts';
import { revisionUsageSlice } from '../../collection/revisions/usage.ts';
import { filesSlice } from '../../files/state.ts';
import { file } from '../../files/tables.ts';
import { isoTime } from '../../times.ts';
import { memberTable } from '../../vault/tables.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { type ExportCursor, exportParts } from './contract.ts';

const pageRowsMax = 300;
const pageBytesMax = 1_048_576;

interface Source<T extends AnyTable> {
  readonly table: T;
  readonly head: (view: View) => number;
  readonly subset?: string;
  readonly columns?: readonly (keyof RowOf<T> & string)[];
  /** The rows of a vault that are the member's own. */
  readonly isOf: (row: RowOf<T>, userUuid: string) => boolean;
  readonly exported: (row: RowOf<T>, vault: string | null) => object;
}
const source = <T extends AnyTable>(of: Source<T>): Source<AnyTable> => of as unknown as Source<AnyTable>;

const sources: Readonly<Record<ExportCursor['part'], Source<AnyTable>>> = {
  items: source({
    table: item,
    head: (view) => view.get(head).position,
    subset: 'live',
    columns: responseColumns,
    isOf: (row, userUuid) => row.owner_uuid === userUuid,
    exported: (row) => fullItem(row),
  }),
  revisions: source({
    table: revision,
    head: (view) => view.get(revisionUsageSlice).endOffset,
    isOf: (row, userUuid) => row.owner_uuid === userUuid,
    exported: (row) => revisionBodyOf(row, row.item_uuid),
  }),
  /** Files of a vault belong to no member. Every member may read all of them. */
  files: source({
    table: file,
    head: (view) => view.get(filesSlice).sequence,
    isOf: () => true,
    exported: (row, vault) => ({
      remote_identifier: row.remote_identifier,
      shared_vault_uuid: vault,
      encrypted_bytes: row.bytes,
      uploaded_at: isoTime(row.closed_at),
    }),
  }),
};

type PagePlans = { readonly own?: RangePlan<AnyTable>; readonly theirs?: CrossOwnerPlan<AnyTable> };

export function exportPagePlans(view: View, { part, vault, after }: ExportCursor): PagePlans {
  const { table, head: headOf, subset, columns } = sources[part];
  const page = {
    limit: pageRowsMax,
    ...(table.size !== undefined && { budgetBytes: pageBytesMax }),
    ...(columns !== undefined && { columns }),
  };
  const rows = { after, ...(subset !== undefined && { subset }) };
  if (vault === null) return { own: range(table, { ...page, ...rows, through: headOf(view) }) };
  const membership = { table: memberTable, member: view.self.id };
  return { theirs: crossOwner(table, { ...page, membership, owners: [{ owner: vault, ...rows }] }) };
}

interface PageRows {
  readonly rows: readonly RowOf<AnyTable>[];
  readonly complete: boolean;
  readonly upTo: number;
}

/** A vault gives no page to a user who is not a member any more. */
export interface ExportReads {
  readonly own?: PageRows | undefined;
  readonly theirs?: { readonly owners: readonly PageRows[] } | undefined;
}

const nothing: PageRows = { rows: [], complete: true, upTo: 0 };

/** The rows as JSON, separated by commas, and where the next page begins. */
export function exportPageOf(view: View, cursor: ExportCursor, { own: ownRows, theirs }: ExportReads) {
  const { rows, complete, upTo } = ownRows ?? theirs?.owners[0] ?? nothing;
  const { isOf, exported } = sources[cursor.part];
  const own = cursor.vault === null ? rows : rows.filter((row) => isOf(row, view.self.id));
  const json = own.map((row) => JSON.stringify(exported(row, cursor.vault))).join(',\n');
  return { json, next: complete ? nextCursor(view, cursor) : { ...cursor, after: upTo } };
}

function nextCursor(view: View, { part, vault }: ExportCursor): ExportCursor | null {
  const next = [...membershipsOf(view).keys()].find((each) => vault === null || each > vault);
  if (next !== undefined) return { part, vault: next, after: 0 };
  const [, following] = exportParts.slice(exportParts.indexOf(part));
  return following === undefined ? null : { part: following, vault: null, after: 0 };
}
