/**
 * The rows of the user's vaults that a sync returns (docs/protocol/sync.md, "Items of vaults"). It reads committed rows of each
 * vault, and only where the vault has a row for this member. The user's own list of vaults just says where to look.
 *
 * A token has two cursors for each vault: one for its items and one for the vault itself. Both carry the number of the
 * membership, so a member who was away begins anew. Without a cursor a vault begins at 0, with tombstones: the client may hold
 * items that have moved to the vault and were deleted there. Only a client without a token has nothing, and needs none.
 */
import {
  type CrossOwnerPlan,
  type CrossOwnerResult,
  crossOwner,
  type View,
} from '../../../runtime/command.ts';
import { isAbsent } from '../../collection/incoming.ts';
import { type ItemRow, item } from '../../collection/item.ts';
import { type ItemPage, pageItems, responseColumns } from '../../collection/retrieve.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { isLegacy, isVaultExclusive, type SyncRequest } from '../../collection/sync-contract.ts';
import { noVaults, type SyncProgress, type VaultPart } from '../../collection/sync-steps.ts';
import { type Cursor, decodeToken, positionsOf } from '../../collection/token.ts';
import type { PositionRange } from '../../vault/items/contract.ts';
import { vaultResponse } from '../../vault/responses.ts';
import { membershipsMax } from '../../vault/settings.ts';
import { memberTable, vaultTable } from '../../vault/tables.ts';
import { membershipsOf } from '../vaults/memberships.ts';

export interface VaultReads {
  readonly vaultItems: CrossOwnerResult<typeof item>;
  readonly vaults: CrossOwnerResult<typeof vaultTable>;
}
type VaultPlans = {
  readonly vaultItems: CrossOwnerPlan<typeof item>;
  readonly vaults: CrossOwnerPlan<typeof vaultTable>;
};

/** Up to where the client has one vault. */
interface VaultProgress {
  readonly vault: string;
  readonly items: Cursor;
  readonly row: Cursor;
  readonly subset: 'live' | 'present';
}

const nothingOf = { owners: [], limit: 0, membership: { table: memberTable, member: '' } };
const noPlans: VaultPlans = {
  vaultItems: crossOwner(item, nothingOf),
  vaults: crossOwner(vaultTable, nothingOf),
};

export function vaultPlans(view: View, request: SyncRequest, version?: number): VaultPlans {
  const progress = vaultProgress(view, request);
  if (progress.length === 0) return noPlans;
  const requested = requestedVaults(request);
  const membership = { table: memberTable, member: view.self.id };
  return {
    vaultItems: crossOwner(item, {
      membership,
      owners: progress
        .filter(({ vault }) => requested === undefined || requested.has(vault))
        .map(({ vault, items, subset }) => ({ owner: vault, after: items.position, subset })),
      limit: pageItems(request.limit),
      budgetBytes: view.use(ItemSettings).transferLimitBytes,
      columns: responseColumns,
      version,
    }),
    vaults: crossOwner(vaultTable, {
      membership,
      owners: progress.map(({ vault, row }) => ({ owner: vault, after: row.position })),
      limit: membershipsMax,
      version,
    }),
  };
}

export interface VaultPage extends VaultPart {
  readonly rows: readonly ItemRow[];
  readonly complete: boolean;
}

/** Call in the turn or the read that begins the sync. */
export function vaultPage(
  view: View,
  request: SyncRequest,
  { vaultItems, vaults }: VaultReads,
  own: ItemPage,
): VaultPage {
  if (vaults.owners.length === 0) return nothing;
  const progress = vaultProgress(view, request);
  let items = pageItems(request.limit) - own.rows.length;
  let bytes = view.use(ItemSettings).transferLimitBytes - sizeOf(own.rows);
  let complete = own.complete;
  const foundIn = new Map(vaultItems.owners.map((each) => [each.owner, each]));
  const vaultRows = new Map(vaults.owners.map((each) => [each.owner, each]));
  const rows: ItemRow[] = [];
  const cursors: Cursor[] = [];
  const shared: VaultPart['shared'][number][] = [];
  for (const { vault, items: cursor, row: rowCursor } of progress) {
    const result = vaultRows.get(vault);
    // The user is no longer a member.
    if (result === undefined) continue;
    shared.push(...result.rows.map(vaultResponse));
    cursors.push({ ...rowCursor, position: result.upTo });
    const found = foundIn.get(vault);
    let position = cursor.position;
    for (const row of found?.rows ?? []) {
      if (!complete || items <= 0 || bytes <= 0) {
        complete = false;
        break;
      }
      rows.push(row);
      position = row.position;
      items -= 1;
      bytes -= row.size ?? 0;
    }
    if (found !== undefined && !found.complete) complete = false;
    cursors.push({ ...cursor, position });
  }
  return { rows, complete, cursors, shared };
}

const nothing: VaultPage = { rows: [], complete: true, ...noVaults };

const sizeOf = (rows: readonly ItemRow[]): number => rows.reduce((sum, { size }) => sum + (size ?? 0), 0);

/** Adds the rows of the vaults to the page of the own collection. */
export function withVaults(
  progress: SyncProgress,
  { rows, complete, cursors, shared }: VaultPage,
): SyncProgress {
  if (cursors.length === 0) return progress;
  const { page } = progress;
  return {
    ...progress,
    page: { ...page, rows: newest([...page.rows, ...rows]), complete: page.complete && complete },
    vaults: { cursors, shared },
  };
}

/** An item that moves has two rows for a moment; the newer one counts. */
function newest(rows: readonly ItemRow[]): readonly ItemRow[] {
  const byUuid = new Map<string, ItemRow>();
  for (const row of rows) {
    const known = byUuid.get(row.uuid);
    if (known === undefined || known.updated_at_timestamp < row.updated_at_timestamp)
      byUuid.set(row.uuid, row);
  }
  return rows.filter((row) => byUuid.get(row.uuid) === row);
}

/** A device that had all items of a vault does not get back what it has just saved there. */
export function advancePast(part: VaultPart, passed: readonly PositionRange[]): VaultPart {
  if (passed.length === 0) return part;
  return {
    ...part,
    cursors: part.cursors.map((cursor) =>
      ofItems.test(cursor.generation) ? beyond(cursor, passed) : cursor,
    ),
  };
}

function beyond(cursor: Cursor, passed: readonly PositionRange[]): Cursor {
  let { position } = cursor;
  for (const { collection, before, after } of passed) {
    if (collection === cursor.collection && before <= position) position = Math.max(position, after);
  }
  return { ...cursor, position };
}

const ofItems = /_i[0-9a-z]+$/;

/** Undefined: the items of all vaults. */
function requestedVaults(request: SyncRequest): ReadonlySet<string> | undefined {
  if (!isVaultExclusive(request)) return undefined;
  return new Set((request.shared_vault_uuids ?? []).map((uuid) => uuid.toLowerCase()));
}

/** Old clients know no vaults. */
function vaultProgress(view: View, request: SyncRequest): readonly VaultProgress[] {
  if (isLegacy(request)) return [];
  const memberships = membershipsOf(view);
  if (memberships.size === 0) return [];
  const { generation } = view.use(ItemSettings);
  const token = request.cursor_token || request.sync_token;
  const positionAt = positionsOf(token || '');
  const subset = token ? 'present' : 'live';
  return [...memberships].map(([vault, membership]) => {
    const number = membership.toString(36);
    const at = (named: string): Cursor => ({
      collection: vault,
      generation: named,
      position: positionAt(vault, named) ?? 0,
    });
    return { vault, items: at(`${generation}_i${number}`), row: at(`${generation}_v${number}`), subset };
  });
}

/**
 * Whether an item of the request may be in a vault, or go to one. Either the request names a vault, or its token says that the
 * client has got items from one.
 */
export function mayConcernVaults({ items, sync_token, cursor_token }: SyncRequest): boolean {
  const sent = items ?? [];
  if (sent.some(({ shared_vault_uuid: vault }) => !isAbsent(vault))) return true;
  const cursors = decodeToken(cursor_token || sync_token || '');
  if (cursors === undefined) return sent.some(({ updated_at_timestamp: version }) => version !== 0);
  return cursors.some(({ generation }) => vaultGeneration.test(generation));
}

const vaultGeneration = /_[iv][0-9a-z]+$/;
