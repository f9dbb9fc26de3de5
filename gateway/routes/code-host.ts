/** A note becomes a file at a code host (docs/protocol/code-host.md). Clients know it by two paths. Never in the envelope. */
import { z } from 'zod';
import { CodePublishing } from '../../actors/user/code-host/contract.ts';
import { contentBytesMax, type PublishingRequest, publishingOf } from '../code-host/publishing-request.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { family, refusedAnswer, signedInAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const { route } = family({ tag: 'Code-host publishing', enveloped: false });
const paths = ['/v1/integrations/codehost/publish', '/v1/integrations/github/publish'];
/** Line breaks and quotes take two bytes each in JSON. */
const bodyBytesMax = 2 * contentBytesMax + 65_536;

/** The check comes after the session's, and its message names the wrong field. */
const anyValue = z.unknown().optional();
const published = z.object({
  created: z.boolean(),
  path: z.string(),
  contentUrl: z.string().optional(),
  commitUrl: z.string().optional(),
});

export function codeHostRoutes({ codeHost }: RoutesOptions): readonly AnyRoute[] {
  async function publish(
    context: RequestContext<'session'>,
    request: PublishingRequest,
  ): Promise<RouteReply> {
    const { actors, credentials, ask, gone } = context;
    // Leaves out token and text, because a question to an actor may be recorded.
    const redeemed = actors
      .get(CodePublishing, credentials.userUuid)
      .ask.spendPublishing({ credentials }, ask);
    const reply = await signedInAnswer(redeemed, () => ({ status: 200 }));
    if (reply.status !== 200) return reply;
    const publishing = publishingOf(request);
    const done = 'refused' in publishing ? publishing : await codeHost.publish(publishing, gone);
    return 'refused' in done ? refusedAnswer(done.refused) : { status: 200, body: done };
  }

  return paths.map((path) =>
    route(`POST ${path}`, {
      access: 'session',
      bearerSuffices: true,
      summary: 'Makes a commit of one file at the code host, with a token of the user.',
      request: z.object({
        token: anyValue,
        owner: anyValue,
        repo: anyValue,
        branch: anyValue,
        path: anyValue,
        content: anyValue,
        message: anyValue,
      }),
      replies: { 200: published },
      refusals: [400, 401, 403, 404, 409, 422, 429, 502],
      bodyLimit: bodyBytesMax,
      // Two or three calls, each with its own time limit.
      deadline: 'own',
      handle: publish,
    }),
  );
}
