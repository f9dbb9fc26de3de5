/** Bridge tokens (docs/protocol/account.md, "Bridge tokens"). */
import { z } from 'zod';
import { invalidBridgeToken } from '../../actors/identity/bridge-tokens.ts';
import { Bridges, wrappedKeysBytesMax } from '../../actors/user/bridge/contract.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { answeredOr, family, refusedAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';
import { sessionAnswer, signInBodySchema } from './sign-in-answer.ts';

const { endpoint, route } = family({ tag: 'Bridge tokens' });
/** The keys, JSON within JSON, and the fields beside them. */
const makeBytesMax = wrappedKeysBytesMax + 64 * 1024;
/** The API version of bridges that name none. */
const defaultVersion = '20200115';

const authentication = z.object({
  token: z.string().max(1_024),
  apiVersion: z.string().max(64).optional(),
  api: z.string().max(64).optional(),
});

export function bridgeTokenRoutes({ bridgeTokens, cookies }: RoutesOptions): readonly AnyRoute[] {
  async function authenticate(
    { actors, ask, client: device }: RequestContext<'public'>,
    { token, api, apiVersion = api ?? defaultVersion }: z.infer<typeof authentication>,
  ): Promise<RouteReply> {
    const named = bridgeTokens.verify(token);
    if (named === undefined) return refusedAnswer(invalidBridgeToken);
    const { userUuid, tokenUuid, secret } = named;
    const answer = actors
      .get(Bridges, userUuid)
      .ask.authenticateBridge({ tokenUuid, secret, apiVersion, device }, ask);
    return answeredOr(invalidBridgeToken, answer, sessionAnswer(cookies));
  }

  return [
    endpoint('GET /v1/mcp-tokens', {
      command: Bridges.commands.listBridgeTokens,
      summary: 'The bridge tokens of the account, and when and from where each was last used.',
    }),
    endpoint('POST /v1/mcp-tokens', {
      command: Bridges.commands.makeBridgeToken,
      bodyLimit: makeBytesMax,
      summary: 'Makes a bridge token and shows it only this once.',
      refusals: [400],
    }),
    endpoint('DELETE /v1/mcp-tokens/:bridgeTokenUuid', {
      command: Bridges.commands.deleteBridgeToken,
      summary: 'Deletes a bridge token and ends the sessions it has opened.',
      refusals: [404],
    }),
    endpoint('GET /v1/mcp-tokens/keys/:bridgeTokenUuid', {
      command: Bridges.commands.getBridgeTokenKeys,
      summary: 'The keys that were wrapped for a bridge.',
      refusals: [404],
    }),
    route('POST /v1/mcp-tokens/authenticate', {
      access: 'public',
      summary: 'Opens a session for a bridge, by its token alone.',
      request: authentication,
      replies: { 200: signInBodySchema },
      refusals: [400, 401],
      handle: authenticate,
    }),
  ];
}
