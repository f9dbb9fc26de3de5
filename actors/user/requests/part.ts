/**
 * The download of everything that an account has, as ciphertext (docs/protocol/account.md, "Requests").
 *
 * Only the right to the download is stored. The download is made page by page while the client fetches it, each page by a
 * shared read in the order of positions (`export-pages.ts`). So it takes the memory of one page. A move of the account's shard
 * does not disturb it, and after a crash the client fetches it again.
 *
 *     requested    the newest request counts for a day, and asking again meanwhile finds it
 *     begun        the newest download counts: the pages of an earlier one are refused from then on
 *
 * An item that is saved meanwhile moves to the end, and comes once more in its newer version. None is left out.
 */
import { z } from 'zod';
import type { ClockedView } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { fullKeyParams } from '../../identity/key-params.ts';
import { refuse } from '../../reply.ts';
import { ownAccount, ownRow } from '../account/own-account.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { Requests } from './contract.ts';
import { exportPageOf, exportPagePlans } from './export-pages.ts';

const exportAgeMs = 86_400_000;
/** Each download reads the whole account. */
const downloadsPerExport = 10;
/** Enough for a slow reader of a large account that is being written. */
const downloadAgeMs = 6 * 3_600_000;

const exportSchema = z.object({
  uuid: z.string(),
  createdAtMs: z.number(),
  downloads: z.number(),
  current: z.object({ uuid: z.string(), beganAtMs: z.number() }).nullable(),
});

/** Null if the user has requested no export. */
const exportSlice = slice<z.infer<typeof exportSchema> | null>({
  name: 'export',
  schema: exportSchema.nullable(),
  initial: null,
});

const unknownType = refuse.badRequest('There is no such request.');
const unknown = refuse.notFound('There is no such download any more. Please request it again.');
const tooMany = refuse.tooMany('This download was fetched too often. Please request it again tomorrow.');
const overtaken = refuse.conflict('Another download has begun, or this one has taken too long.');

const makeRequest = signedInTurn(Requests.commands.makeRequest, (turn, { requestType }) => {
  if (requestType !== 'data-export') return unknownType;
  const made = currentExport(turn) ?? {
    uuid: turn.random.uuid(),
    createdAtMs: turn.nowMs,
    downloads: 0,
    current: null,
  };
  turn.set(exportSlice, made);
  const request = {
    uuid: made.uuid,
    requestType,
    path: `/v1/users/${turn.self.id}/requests/${made.uuid}`,
    createdAt: made.createdAtMs * 1_000,
    expiresAt: (made.createdAtMs + exportAgeMs) * 1_000,
  };
  return { success: true, request };
});

const beginExport = signedInTurn(Requests.commands.beginExport, {
  repeat: 'recorded',
  reads: ownAccount,
  turn: (turn, { requestUuid }, reads, { session }) => {
    const latest = currentExport(turn);
    if (latest?.uuid !== requestUuid) return unknown;
    if (latest.downloads >= downloadsPerExport) return tooMany;
    const current = { uuid: turn.random.uuid(), beganAtMs: turn.nowMs };
    turn.set(exportSlice, { ...latest, downloads: latest.downloads + 1, current });
    audit(turn, 'data-exported', session, requestUuid);
    const keyParams = fullKeyParams(ownRow(turn, reads));
    return { downloadUuid: current.uuid, version: keyParams.version, keyParams };
  },
});

const exportPage = signedInRead(Requests.commands.exportPage, {
  reads: (view, { cursor }) => exportPagePlans(view, cursor),
  answer: (view, { downloadUuid, cursor }, reads) => {
    const current = view.get(exportSlice)?.current;
    const isCurrent = current?.uuid === downloadUuid && view.nowMs < current.beganAtMs + downloadAgeMs;
    if (!isCurrent) return overtaken;
    return exportPageOf(view, cursor, reads);
  },
});

function currentExport(view: ClockedView) {
  const made = view.get(exportSlice);
  return made !== null && view.nowMs < made.createdAtMs + exportAgeMs ? made : undefined;
}

export const requests = userPart(Requests, {
  name: 'requests',
  slices: [exportSlice],
  commands: { makeRequest, beginExport, exportPage },
});
