/** Uploads into a vault: as those into an account (`actors/files/uploads.ts`), once the vault's owner has reserved quota. */
import { command, keys, type Turn, type View, type Workflow, workflow } from '../../../runtime/command.ts';
import { unlessAbsent } from '../../../runtime/handles.ts';
import { head } from '../../collection/head.ts';
import { answerToRepeatedClose, invalidToken, refusalOfChunk } from '../../files/by-token.ts';
import { closePersisted } from '../../files/closing.ts';
import { noSpace } from '../../files/owner.ts';
import { redeem, redeemedOn } from '../../files/redeemed.ts';
import { tellSweeper } from '../../files/state.ts';
import { file, fileKey } from '../../files/tables.ts';
import {
  abandonChunk,
  abandonPlan,
  beginChunk,
  closeUpload,
  finishChunk,
  giveUpUnsent,
  heldWith,
  oldestUnsent,
  openUpload,
  refusalToOpen,
  tooManyUploads,
  uploadAgeMs,
  usuallyHeld,
} from '../../files/uploads.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Answer, answerOf, isRefused, type Refused, refuse } from '../../reply.ts';
import { Files } from '../../user/files/contract.ts';
import { addNotifications, memberListFor, memberListPlan } from '../member-list.ts';
import type { VaultRow } from '../tables.ts';
import { accessOf, accessPlan, refusalOfToken, rightsOf } from './access.ts';
import { VaultFiles } from './contract.ts';
import { grantMap, releaseAt, vaultFiles } from './own-files.ts';

/** So long after the end of an upload, the owner stops counting its room, even if nobody has told the owner of that end. */
const graceMs = 3_600_000;

export const ownerChanged: Refused = refuse.notNow(
  'The shared vault changes hands. Please try again.',
  1_000,
);

interface ByToken {
  readonly claims: ValetClaims;
}

/** A turn for a member who may write, by a token that is not redeemed. */
export const writing = <R>(claims: ValetClaims, run: (turn: Turn, vault: VaultRow) => R | Refused) => ({
  reads: (view: View) => accessPlan(view, claims.userUuid),
  turn: (turn: Turn, reads: Parameters<typeof accessOf>[2]): R | Refused => {
    const access = accessOf(turn, claims.userUuid, reads);
    if (access === undefined) return invalidToken;
    const refused = refusalOfToken(turn, claims, access);
    if (refused !== undefined) return refused;
    return redeemedOn(turn, claims) === undefined ? run(turn, access.vault) : invalidToken;
  },
});

interface QuotaHold {
  readonly holdUuid: string;
  /** The member who uploads; absent for a file that moves, whose bytes are in the store already. */
  readonly by?: string;
  readonly bytes: number;
  /** The upload that this one replaces. */
  readonly instead?: string;
  /** An upload that may have to end for this one. */
  readonly givesUp?: string;
}

/** Asks the owner to grant room for all that an upload, or an incoming file, holds. */
export async function holdAt(
  { actors, nowMs }: Pick<Workflow, 'actors' | 'nowMs'>,
  ownerUuid: string,
  held: QuotaHold,
): Promise<Refused | undefined> {
  const endsAtMs = nowMs + uploadAgeMs + graceMs;
  const { ask } = actors.get(Files, ownerUuid);
  const answer = (await unlessAbsent(ask.holdForVault({ endsAtMs, ...held }))) ?? noSpace;
  return isRefused(answer) ? answer : undefined;
}

/** The turn that uses a new grant of an upload. If the turn refuses, the grant is given back. */
const granted = <Ok>(
  claims: ValetClaims,
  ownerUuid: string,
  { holdUuid, bytes }: QuotaHold,
  run: (turn: Turn, vault: VaultRow) => Ok | Refused,
) => {
  const before = writing<Ok>(claims, (turn, vault) => {
    if (vault.owner_uuid !== ownerUuid) return ownerChanged;
    const grant = turn.entry(grantMap, holdUuid);
    const most = Math.max(bytes, grant?.bytes ?? 0);
    turn.setEntry(grantMap, holdUuid, { bytes: most, ownerUuid, by: grant?.by ?? claims.userUuid });
    return run(turn, vault);
  });
  return {
    reads: before.reads,
    turn: (turn: Turn, reads: Parameters<typeof accessOf>[2]): Ok | Refused => {
      const answer = before.turn(turn, reads);
      if (!isRefused(answer) || heldWith(turn, { ...claims, bytes: 0 })?.uploadUuid === holdUuid)
        return answer;
      turn.removeEntry(grantMap, holdUuid);
      releaseAt(turn, ownerUuid, holdUuid);
      return answer;
    },
  };
};

/** As `holdAt`. If the member has too many uploads open, it gives up their oldest that nothing was sent to. */
async function holdToOpen(
  steps: Workflow,
  ownerUuid: string,
  held: QuotaHold & { readonly by: string },
): Promise<{ readonly givesUp?: string } | Refused> {
  const refused = await holdAt(steps, ownerUuid, held);
  if (refused?.refused.reason !== 'too-many') return refused ?? {};
  const isTheirs = (turn: Turn) => (uuid: string) => turn.entry(grantMap, uuid)?.by === held.by;
  const givesUp = await steps.turn({ turn: (turn) => oldestUnsent(turn, isTheirs(turn)) });
  if (givesUp === undefined) return refused;
  return (await holdAt(steps, ownerUuid, { ...held, givesUp })) ?? { givesUp };
}

const open = workflow(VaultFiles.commands.openUpload, {
  run: async (steps, { claims, uploadUuid }): Promise<Answer<Record<never, never>>> => {
    const first = await steps.turn(
      writing(claims, (turn, vault) => {
        const earlier = heldWith(turn, { ...claims, bytes: 0 })?.uploadUuid;
        return (
          refusalToOpen(turn, vaultFiles(turn, vault), claims) ?? { ownerUuid: vault.owner_uuid, earlier }
        );
      }),
    );
    if (isRefused(first)) return first;
    const { earlier } = first;
    if (earlier === uploadUuid) return { ok: {} };
    const bytes = usuallyHeld(claims.unencryptedBytes);
    const by = claims.userUuid;
    const held = { holdUuid: uploadUuid, by, bytes, ...(earlier !== undefined && { instead: earlier }) };
    const hold = await holdToOpen(steps, first.ownerUuid, { ...held, by });
    if (isRefused(hold)) return hold;
    const opened = await steps.turn(
      granted(claims, first.ownerUuid, held, (turn, vault) => {
        tellSweeper(turn);
        const { givesUp } = hold;
        if (givesUp !== undefined && !giveUpUnsent(turn, vaultFiles(turn, vault), givesUp))
          return tooManyUploads;
        return openUpload(turn, vaultFiles(turn, vault), { ...claims, uploadUuid });
      }),
    );
    return answerOf(opened);
  },
});

const begin = workflow(VaultFiles.commands.beginChunk, async (steps, { claims, ...chunk }) => {
  const wrong = refusalOfChunk(chunk);
  if (wrong !== undefined) return wrong;
  const { remoteIdentifier } = claims;
  const run = (turn: Turn, vault: VaultRow) =>
    beginChunk(turn, vaultFiles(turn, vault), { remoteIdentifier, ...chunk });
  const first = await steps.turn(
    writing(claims, (turn, vault) => {
      const held = heldWith(turn, { remoteIdentifier, bytes: chunk.bytes });
      const isGranted =
        held === undefined || held.bytes <= (turn.entry(grantMap, held.uploadUuid)?.bytes ?? 0);
      if (isGranted) return { begun: run(turn, vault) };
      return {
        lacks: { holdUuid: held.uploadUuid, by: claims.userUuid, bytes: held.bytes },
        ownerUuid: vault.owner_uuid,
      };
    }),
  );
  if (isRefused(first)) return first;
  if ('begun' in first) return answerOf(first.begun);
  const refused = await holdAt(steps, first.ownerUuid, first.lacks);
  if (refused !== undefined) return refused;
  return answerOf(await steps.turn(granted(claims, first.ownerUuid, first.lacks, run)));
});

const finish = workflow(VaultFiles.commands.finishChunk, async (steps, { claims, ...stored }) => {
  const { remoteIdentifier } = claims;
  const run = (turn: Turn, vault: VaultRow) =>
    finishChunk(turn, vaultFiles(turn, vault), { remoteIdentifier, ...stored });
  return answerOf(await steps.turn(writing(claims, run)));
});

/** Checks no rights: a member who has lost theirs may still abandon a chunk, because nobody gains anything by it. */
const abandon = command(VaultFiles.commands.abandonChunk, {
  reads: (view, { claims: { remoteIdentifier }, uploadUuid }) =>
    abandonPlan(view, { remoteIdentifier, uploadUuid }),
  turn: (turn, { claims: { remoteIdentifier }, ...abandoned }, reads) =>
    answerOf(abandonChunk(turn, vaultFiles(turn), { remoteIdentifier, ...abandoned }, reads)),
});

/** All members are notified, so their rows are read. */
export const membersAndFilePlan = (view: View, request: ByToken) => ({
  ...memberListPlan(view),
  files: keys(file, [fileKey(view, request.claims.remoteIdentifier)]),
});

const close = workflow(VaultFiles.commands.closeUpload, (steps, request) => {
  const { claims } = request;
  return closePersisted(steps, claims.remoteIdentifier, {
    reads: (view) => membersAndFilePlan(view, request),
    early: (turn, reads) => {
      const memberList = memberListFor(turn, claims.userUuid, reads);
      const refused = refusalOfToken(turn, claims, memberList && rightsOf(memberList));
      return refused ?? answerToRepeatedClose(turn, claims);
    },
    close: (turn, { files, ...reads }) => {
      const memberList = memberListFor(turn, claims.userUuid, reads);
      if (memberList === undefined) return invalidToken;
      const replaced = files.get(fileKey(turn, claims.remoteIdentifier));
      const closed = closeUpload(turn, vaultFiles(turn, memberList.vault), claims.remoteIdentifier, replaced);
      if (isRefused(closed)) return closed;
      redeem(turn, claims, 'close');
      addNotifications(turn, memberList.members, 'shared_vault_file_uploaded', turn.get(head).position);
      return answerOf(closed);
    },
  });
});

export const uploadCommands = {
  openUpload: open,
  beginChunk: begin,
  finishChunk: finish,
  abandonChunk: abandon,
  closeUpload: close,
};
