/** Requests about the account as a whole: its deletion and its data (docs/protocol/account.md, "Requests"). */
import { z } from 'zod';
import { type ExportProgress, exportBeginning, exportPiece, exportStart } from '../../actors/export-file.ts';
import { isRefused } from '../../actors/reply.ts';
import { type ExportCursor, Requests } from '../../actors/user/requests/contract.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { deleteAccountReply } from './accounts.ts';
import { family, signedInAnswer, withSuccessField } from './endpoint.ts';

const { route } = family({ tag: 'Users' });

const requestMade = z.union([Requests.commands.makeRequest.ok, z.object({ success: z.boolean() })]);
const madeRequest = z.object({ userUuid: z.string().max(64), requestType: z.string().max(64) });
const download = z.object({ userUuid: z.string().max(64), requestUuid: z.string().max(64) });

export const requestRoutes: readonly AnyRoute[] = [
  route('POST /v1/users/:userUuid/requests', {
    access: 'session',
    summary: 'Requests a download of everything the account holds, or its deletion.',
    request: madeRequest,
    replies: { 200: requestMade },
    refusals: [400, 401, 403, 423],
    headers: ['x-server-password'],
    handle: async (context, request) => withSuccessField(await makeRequest(context, request)),
  }),
  route('GET /v1/users/:userUuid/requests/:requestUuid', {
    access: 'session',
    summary: 'Downloads everything the account holds, as ciphertext that clients import.',
    request: download,
    replies: { 200: { mediaType: 'application/json' } },
    refusals: [401, 403, 404, 429],
    handle: downloadExport,
  }),
];

async function makeRequest(
  context: RequestContext<'session'>,
  { userUuid, requestType }: z.infer<typeof madeRequest>,
): Promise<RouteReply> {
  const { actors, credentials, ask } = context;
  if (requestType === 'account-deletion') {
    const reply = await deleteAccountReply(context, { userUuid });
    return reply.status === 200 ? { ...reply, body: { success: true } } : reply;
  }
  const answer = actors
    .get(Requests, credentials.userUuid)
    .ask.makeRequest({ credentials, userUuid, requestType }, ask);
  return signedInAnswer(answer, (body) => ({ status: 200, body }));
}

/** The same file that clients write when they export without decrypting. */
function downloadExport(
  context: RequestContext<'session'>,
  { userUuid, requestUuid }: z.infer<typeof download>,
): Promise<RouteReply> {
  const { actors, credentials, ask, gone } = context;
  const user = actors.get(Requests, credentials.userUuid);

  /** Every page is a call of its own. */
  async function page(downloadUuid: string, cursor: ExportCursor) {
    gone.throwIfAborted();
    const deadline = ask.deadlineMs === undefined ? {} : { deadlineMs: ask.deadlineMs };
    const answer = await user.ask.exportPage({ credentials, userUuid, downloadUuid, cursor }, deadline);
    if (isRefused(answer)) throw new Error(`the download ended: ${answer.refused.message}`);
    return answer.ok;
  }

  async function* file(downloadUuid: string, head: object): AsyncGenerator<Uint8Array> {
    let text = exportBeginning(head);
    for (let progress: ExportProgress | null = exportStart; progress !== null; ) {
      const piece = exportPiece(progress, await page(downloadUuid, progress.cursor));
      text += piece.text;
      if (text !== '') yield Buffer.from(text);
      text = '';
      progress = piece.next;
    }
  }

  return signedInAnswer(
    user.ask.beginExport({ credentials, userUuid, requestUuid }, ask),
    ({ downloadUuid, ...head }) => ({
      status: 200,
      contentType: 'application/json; charset=utf-8',
      stream: { open: () => file(downloadUuid, head) },
      headers: {
        'Cache-Control': 'private, no-store',
        'Content-Disposition': 'attachment; filename="scriptorium-export.txt"',
      },
    }),
  );
}
