/** Public shares (docs/protocol/public-shares.md). */
import { z } from 'zod';
import { isRefused } from '../../actors/reply.ts';
import { payloadBytesMax, Share, shareNotFound, viewSchema } from '../../actors/share/contract.ts';
import { PublicShares } from '../../actors/user/public-shares/contract.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import type { RouteRefusal } from '../http/refusal.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { family, refusedAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const { endpoint, route } = family({ tag: 'Public shares' });
/** An encrypted payload is JSON in a JSON string, so its quotes are escaped; the rest of it needs no escapes. */
const bodyBytesMax = 2 * payloadBytesMax;
/** Each may carry megabytes, to any anonymous reader. */
const openings: RateBucket = { name: 'share openings', perMinute: 120, by: 'address' };

/** Most shares are notes, which open with a single request. */
const fewBytes = 16 * 1_024;
const noReplyMemory: RouteRefusal = {
  status: 503,
  message: 'The server is sending too much at the moment. Please try again.',
  retryAfterMs: 2_000,
};

const notAhead = { status: 403, message: 'A share is not opened ahead of time.' } as const;

const ownerRoutes = [
  endpoint('POST /v1/shares', {
    command: PublicShares.commands.createShare,
    summary: 'Shares something that the client has encrypted with anyone who gets the link.',
    bodyLimit: bodyBytesMax,
    refusals: [400, 409, 413],
  }),
  endpoint('GET /v1/shares', {
    command: PublicShares.commands.listShares,
    summary: 'The shares of the account, without what they hold.',
  }),
  endpoint('DELETE /v1/shares/:shareId', {
    command: PublicShares.commands.revokeShare,
    summary: 'Revokes a share: nobody can open it any more.',
    refusals: [404],
  }),
];

export function publicShareRoutes({ shareIds }: RoutesOptions): readonly AnyRoute[] {
  async function open(
    context: RequestContext<'public'>,
    { shareId }: { readonly shareId: string },
  ): Promise<RouteReply> {
    if (isAheadOfTime(context)) return refusedAnswer(notAhead);
    const uuid = shareIds.read(shareId);
    if (uuid === undefined) return refusedAnswer(shareNotFound.refused);
    return openWithin(context, uuid, fewBytes);
  }

  /**
   * A reader without reserved memory has not opened the share. It reserves as much as the share needs and asks again.
   */
  async function openWithin(
    context: RequestContext<'public'>,
    uuid: string,
    roomBytes: number,
  ): Promise<RouteReply> {
    if (!(await context.reserveReply(roomBytes))) return refusedAnswer(noReplyMemory);
    const viewed = context.actors.get(Share, uuid).ask.view({ roomBytes }, context.ask);
    const answer = (await unlessAbsent(viewed)) ?? shareNotFound;
    if (isRefused(answer)) return refusedAnswer(answer.refused);
    if ('needsBytes' in answer.ok) return openWithin(context, uuid, answer.ok.needsBytes);
    return { status: 200, body: answer.ok };
  }

  return [
    ...ownerRoutes,
    route('GET /v1/shares/:shareId', {
      access: 'public',
      summary: 'What a share holds, for anyone who has its link. A one-time share is given once.',
      request: z.object({ shareId: z.string() }),
      headers: ['sec-purpose', 'purpose'],
      replies: { 200: viewSchema },
      refusals: [403, 404, 503],
      rate: openings,
      handle: async (context, request) => ({ ...(await open(context, request)), duplicated: true }),
    }),
  ];
}

/** Browsers prefetch links that their user may click. Such a request must not use up a share. */
const isAheadOfTime = (context: RequestContext<'public'>): boolean =>
  [context.header('sec-purpose'), context.header('purpose')].some((purpose) =>
    /prefetch|prerender|preview/i.test(purpose ?? ''),
  );
