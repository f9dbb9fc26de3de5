/**
 * The idle-sync cache: the plans and the answer of each vault member's last sync.
 *
 * Nearly every sync finds nothing. A sync with the same token, own head, inbox and vaults as the last one needs the same plans.
 * If it finds nothing either, it gets the same answer. The server then neither reads nor builds a token of many cursors again.
 *
 * The cache does not say whether the vaults have something new: every sync looks for that.
 */
import type { CrossOwnerResult, View } from '../../../runtime/command.ts';
import type { AnyTable } from '../../../runtime/table.ts';
import { type Head, head } from '../../collection/head.ts';
import {
  isLegacy,
  isVaultExclusive,
  keepText,
  type SyncReply,
  type SyncRequest,
} from '../../collection/sync-contract.ts';
import { inboxSlice } from '../inbox/positions.ts';
import { membershipsOf } from '../vaults/memberships.ts';

interface IdleSync<Plans> {
  readonly token: string;
  readonly limit: number | null | undefined;
  readonly head: Head;
  readonly inbox: unknown;
  readonly plans: Plans;
  /** Set once a sync has found nothing. */
  reply?: SyncReply;
}

interface CrossOwnerResults {
  readonly vaultItems: CrossOwnerResult<AnyTable>;
  readonly vaults: CrossOwnerResult<AnyTable>;
}

type MakePlans<Plans> = (view: View, request: SyncRequest, version: number) => Plans;

export class IdleSyncCache<Plans> {
  /** The key is the map of the user's durable memberships, so the entry goes when they change. Users without vaults have none. */
  readonly #last = new WeakMap<ReadonlyMap<string, number>, IdleSync<Plans>>();

  /** Newly made plans have a version of their own. Plans given again have the same one, so the runtime knows them as well. */
  #version = 0;

  plans(view: View, request: SyncRequest, make: MakePlans<Plans>): Plans {
    const token = tokenOf(request);
    const memberships = membershipsOf(view);
    const known = token === undefined ? undefined : this.#lastLike(view, request, token);
    if (known !== undefined) return known.plans;
    this.#version += 1;
    const plans = make(view, request, this.#version);
    if (token === undefined || memberships.size === 0) return plans;
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

/** Undefined: the cache is not for syncs of this kind. */
function tokenOf(request: SyncRequest): string | undefined {
  if (isLegacy(request) || isVaultExclusive(request)) return undefined;
  return request.cursor_token || request.sync_token || undefined;
}

/** A token that has not moved has passed nothing. */
function isWhereItWas(reply: SyncReply, token: string): boolean {
  const { sync_token, cursor_token, ...lists } = reply;
  return sync_token === token && cursor_token === undefined && Object.values(lists).every(isEmpty);
}

const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;
