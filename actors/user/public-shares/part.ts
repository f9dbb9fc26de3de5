/**
 * The public shares of an account, as their owner has them (docs/protocol/public-shares.md). The share itself has the
 * ciphertext, and opens (`actors/share/share.ts`).
 *
 *     owner                                     share
 *     has room?                -- create ---->  ciphertext, durable; opens for nobody; asks again in ten minutes
 *     listed                                    opens for anyone who has the link
 *     listed, not ended        <- showsShare -  somebody wants to open it
 *
 *     ended, tells `end`       -- end ------->  gone; then the owner is answered
 *     ended                    <- shareOpened   opened by its only reader, or its time is over
 *
 * - A share opens only if its owner lists it, so the commit that lists it publishes it. A crash before that leaves ciphertext
 *   that nobody can open. It goes when the share asks its owner, who cannot list it any more by then.
 * - A banned or deleted account shows nothing from that commit on, even with very many shares.
 * - Id and steps follow from the call, so a repeat of the call makes and counts the same share.
 */
import { z } from 'zod';
import { sharedRead, type Turn, tell, type View } from '../../../runtime/command.ts';
import { unlessAbsent } from '../../../runtime/handles.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { ShareIds } from '../../identity/share-ids.ts';
import { isRefused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { Share, shareNotFound, termsFields } from '../../share/contract.ts';
import { isoTime, isoTimeOrNull, newestFirst } from '../../times.ts';
import { purging, userPart } from '../hooks.ts';
import { isActive, isBanned } from '../profile.ts';
import { type SignedInWorkflow, signedInRead, signedInWorkflow } from '../signed-in.ts';
import { PublicShares } from './contract.ts';
import { draftOf, type ShareDraft } from './draft.ts';

const liveSharesMax = 10_000;
/** Ended shares are listed while there is room for them. */
const endedSharesMax = 2_000;
const endedAgeMs = 90 * 86_400_000;
/** Far less than the time after which the share asks whether it is listed. */
const listWithinMs = 300_000;

const publicShareSchema = z.object({
  uuid: z.string(),
  ...termsFields,
  nickname: z.string().nullable(),
  /** The size of its ciphertext. */
  bytes: z.number(),
  createdAtMs: z.number(),
  firstOpenedAtMs: z.number().nullable(),
  /** Since when nobody can open it. */
  endedAtMs: z.number().nullable(),
});
type PublicShare = z.infer<typeof publicShareSchema>;

/** Keyed by uuid. */
const publicShareMap = sliceMap<PublicShare>({
  family: 'public-share',
  entriesMax: liveSharesMax + endedSharesMax,
  schema: publicShareSchema,
});

const tooMany = refuse.conflict('You have too many shares. Please revoke some first.', 'share-limit');
const tooLate = refuse.notNow('The share could not be stored in time. Please try again.', 5_000);

const createShare = signedInWorkflow(PublicShares.commands.createShare, async (workflow, request) => {
  const draft = draftOf(request);
  if (isRefused(draft)) return workflow.turn({ turn: () => draft });
  const { encryptedPayload, ...described } = draft;
  const { self, callId } = workflow;
  const uuid = workflow.use(ShareIds).idOf({ userUuid: self.id, callId });
  await workflow.turn({ turn: (turn) => (isWithinLimits(turn, uuid, draft.bytes) ? {} : tooMany) });
  const createdAtMs = await store(workflow, uuid, draft);
  return workflow.lastTurn({
    turn: (turn) => {
      const before = turn.entry(publicShareMap, uuid);
      if (before !== undefined) return { shareId: uuid, share: toResponse(before) };
      const isLate = createdAtMs === undefined || turn.nowMs >= createdAtMs + listWithinMs;
      if (isLate || !isWithinLimits(turn, uuid, draft.bytes)) {
        turn.tell(Share, uuid).end();
        return isLate ? tooLate : tooMany;
      }
      forgetOld(turn);
      const share = { uuid, ...described, createdAtMs, firstOpenedAtMs: null, endedAtMs: null };
      turn.setEntry(publicShareMap, uuid, share);
      return { shareId: uuid, share: toResponse(share) };
    },
  });
});

/** Undefined: it is gone already. */
async function store(
  { actors, self }: Pick<SignedInWorkflow<unknown>, 'actors' | 'self'>,
  uuid: string,
  { type, oneTimeView, viewExpiresMinutes, encryptedPayload }: ShareDraft,
): Promise<number | undefined> {
  const terms = { type, oneTimeView, viewExpiresMinutes };
  const stored = { ownerUuid: self.id, ...terms, encryptedPayload };
  return (await unlessAbsent(actors.get(Share, uuid).ask.create(stored)))?.createdAtMs;
}

const listShares = signedInRead(PublicShares.commands.listShares, (view) => {
  const live = [...view.entries(publicShareMap).values()].filter((share) => !isOld(share, view.nowMs));
  return { shares: newestFirst(live).map(toResponse) };
});

const revokeShare = signedInWorkflow(PublicShares.commands.revokeShare, async (workflow, { shareId }) => {
  const shareUuid = shareId.toLowerCase();
  await workflow.turn({ turn: (turn) => (revoke(turn, shareUuid) ? {} : shareNotFound) });
  await unlessAbsent(workflow.actors.get(Share, shareUuid).ask.end({}));
  return workflow.lastTurn({ turn: () => ({ message: 'Share revoked' }) });
});

/** False: the account has no such share. */
function revoke(turn: Turn, uuid: string): boolean {
  const share = turn.entry(publicShareMap, uuid);
  if (share === undefined) return false;
  if (share.endedAtMs !== null) return true;
  turn.setEntry(publicShareMap, uuid, { ...share, endedAtMs: turn.nowMs });
  turn.tell(Share, uuid).end();
  return true;
}

const showsShare = sharedRead(PublicShares.commands.showsShare, (view, { shareUuid }) => {
  const share = isActive(view) ? view.entry(publicShareMap, shareUuid) : undefined;
  const lists = share !== undefined;
  return { lists, shows: lists && !isBanned(view), bytes: share?.bytes ?? 0 };
});

const shareOpened = tell(PublicShares.tells.shareOpened, (turn, { shareUuid, atMs, endedAtMs }) => {
  const share = turn.entry(publicShareMap, shareUuid);
  if (share === undefined) return;
  turn.setEntry(publicShareMap, shareUuid, {
    ...share,
    firstOpenedAtMs: atMs,
    endedAtMs: share.endedAtMs ?? endedAtMs,
  });
});

/** Each costs a tell. */
const endBatchMax = 100;

const sharesPurge = purging({
  turn: (turn) => {
    const uuids = [...turn.entries(publicShareMap).keys()].slice(0, endBatchMax);
    for (const uuid of uuids) {
      turn.removeEntry(publicShareMap, uuid);
      turn.tell(Share, uuid).end();
    }
    return { left: uuids.length > 0 ? 'more' : 'nothing' };
  },
});

function isWithinLimits(view: View, uuid: string, bytes: number): boolean {
  if (view.entry(publicShareMap, uuid) !== undefined) return true;
  const live = [...view.entries(publicShareMap).values()].filter(({ endedAtMs }) => endedAtMs === null);
  const held = live.reduce((sum, share) => sum + share.bytes, 0);
  const { shareBytesMax } = view.use(AccountSettings);
  return live.length < liveSharesMax && held + bytes <= shareBytesMax;
}

function forgetOld(turn: Turn): void {
  const ended = [...turn.entries(publicShareMap).values()]
    .filter(({ endedAtMs }) => endedAtMs !== null)
    .toSorted((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0));
  ended.forEach((share, index) => {
    if (index >= endedSharesMax - 1 || isOld(share, turn.nowMs)) turn.removeEntry(publicShareMap, share.uuid);
  });
}

const isOld = ({ endedAtMs }: PublicShare, nowMs: number): boolean =>
  endedAtMs !== null && nowMs - endedAtMs >= endedAgeMs;

function toResponse({ uuid, type, nickname, oneTimeView, viewExpiresMinutes, ...times }: PublicShare) {
  return {
    uuid,
    type,
    nickname,
    oneTimeView,
    viewExpiresMinutes,
    createdAt: isoTime(times.createdAtMs),
    revoked: times.endedAtMs !== null,
    firstOpenedAt: isoTimeOrNull(times.firstOpenedAtMs),
  };
}

export const publicShares = userPart(PublicShares, {
  name: 'public-shares',
  uses: [AccountSettings, ShareIds],
  slices: [publicShareMap],
  commands: { createShare, listShares, revokeShare, showsShare },
  tells: { shareOpened },
  on: { purgeFirst: sharesPurge },
});
