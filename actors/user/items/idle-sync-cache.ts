/**
 * The idle-sync cache: the plans and the answer of the last sync of each member of vaults. Nearly every sync finds nothing. The
 * next sync from the same token, at the same own head and inbox and in the same vaults, has the same plans. Where it finds
 * nothing either, it has the same answer, so the server neither reads nor makes a token of many cursors again.
 *
 * Whether the vaults have something new is found out each time.
 */
import type { CrossOwnerResult, View } from '../../../runtime/command.ts';
import type { AnyTable } from '../../../runtime/table.ts';
import { type Head, head } from '../../collection/head.ts';
import { keepText, type SyncReply } from '../../collection/sync-reply.ts';
import { isLegacy, isVaultExclusive, type SyncRequest } from '../../collection/sync-request.ts';
import { inboxSlice } from '../inbox/positions.ts';
import { membershipsOf } from '../vaults/memberships.ts';

interface IdleSync<Plans> {
  readonly token: string;
  readonly limit: number | null | undefined;
  readonly head: Head;
  readonly inbox: unknown;
  readonly plans: Plans;
  /** The answer, where the sync found nothing. */
  reply?: SyncReply;
}

interface CrossOwnerResults {
  readonly vaultItems: CrossOwnerResult<AnyTable>;
  readonly vaults: CrossOwnerResult<AnyTable>;
}

export class IdleSyncCache<Plans> {
  /** One for each user who is in vaults, kept by the map of their durable memberships. It goes with that map. */
  readonly #last = new WeakMap<ReadonlyMap<string, number>, IdleSync<Plans>>();

  plans(view: View, request: SyncRequest, make: (view: View, request: SyncRequest) => Plans): Plans {
    const token = tokenOf(request);
    const memberships = membershipsOf(view);
    if (token === undefined || memberships.size === 0) return make(view, request);
    const known = this.#lastLike(view, request, token);
    if (known !== undefined) return known.plans;
    const plans = make(view, request);
    const { limit } = request;
    const idleSync = { token, limit, head: view.get(head), inbox: view.get(inboxSlice), plans };
    this.#last.set(memberships, idleSync);
    return plans;
  }

  reply(
    view: View,
    request: SyncRequest,
    { vaultItems, vaults }: CrossOwnerResults,
    make: () => SyncReply,
  ): SyncReply {
    const token = tokenOf(request);
    if (token === undefined || !vaultItems.isQuiet || !vaults.isQuiet) return make();
    const known = this.#lastLike(view, request, token);
    if (known?.reply !== undefined) return known.reply;
    const reply = make();
    if (known !== undefined && isWhereItWas(reply, token)) {
      known.reply = reply;
      keepText(reply);
    }
    return reply;
  }

  #lastLike(view: View, { limit }: SyncRequest, token: string): IdleSync<Plans> | undefined {
    const last = this.#last.get(membershipsOf(view));
    if (last === undefined || last.head !== view.get(head) || last.inbox !== view.get(inboxSlice))
      return undefined;
    return last.limit === limit && last.token === token ? last : undefined;
  }
}

/** Undefined where a sync is of another kind. */
function tokenOf(request: SyncRequest): string | undefined {
  if (isLegacy(request) || isVaultExclusive(request)) return undefined;
  return request.cursor_token || request.sync_token || undefined;
}

/** A token that stays where it was has passed nothing. */
function isWhereItWas(reply: SyncReply, token: string): boolean {
  const { sync_token, cursor_token, ...lists } = reply;
  return sync_token === token && cursor_token === undefined && Object.values(lists).every(isEmpty);
}

const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;
