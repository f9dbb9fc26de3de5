/**
 * Provider subscriptions that administrators pair with the assistant (docs/protocol/pairing.md). Replies never have the envelope of
 * other endpoints.
 */
import { z } from 'zod';
import { Pairing, pairingId } from '../../actors/pairing/contract.ts';
import { isRefused } from '../../actors/reply.ts';
import { UserPairing } from '../../actors/user/pairing/contract.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import { statusOf } from '../http/refusal.ts';
import { htmlType } from '../http/responder.ts';
import type { AnyRoute, Area, RequestContext, RouteReply } from '../http/route.ts';
import { family, flat } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const base = '/v1/assistant/subscription';
const { endpoint, route } = family({ tag: 'Assistant subscription pairing', enveloped: false });
/** Every endpoint may refuse a malformed request, a caller who is no administrator, and any call while pairing is off. */
const always = [400, 403, 503];

/** No cache may keep a reply of this area, not even a refusal. */
export const pairingArea: Area = {
  prefix: base,
  replyHeaders: { 'Cache-Control': 'private, no-store, max-age=0', Pragma: 'no-cache' },
};

/** Enough for an administrator, who comes back from the provider a few times. The state of 32 bytes cannot be guessed anyway. */
const callbacks: RateBucket = { name: 'pairing callbacks', perMinute: 10, by: 'address' };

const administration = [
  endpoint(`GET ${base}/status`, {
    refusals: always,
    command: UserPairing.commands.getPairing,
    summary: 'How it is with one pairing.',
  }),
  endpoint(`GET ${base}/list`, {
    refusals: always,
    command: UserPairing.commands.listPairings,
    summary: 'All pairings.',
  }),
  endpoint(`POST ${base}/start`, {
    refusals: [...always, 429],
    command: UserPairing.commands.startPairing,
    summary: 'Begins to pair a subscription: where to go, and the state to come back with.',
  }),
  endpoint(`POST ${base}/complete`, {
    refusals: [...always, 409, 502],
    command: UserPairing.commands.completePairing,
    summary: 'Completes a pairing by hand. Only the administrator who started it may.',
  }),
  endpoint(`POST ${base}/unpair`, {
    refusals: [...always, 409],
    command: UserPairing.commands.unpair,
    summary: 'Removes one pairing here; the provider is not told.',
  }),
  endpoint(`POST ${base}/unpair-all`, {
    refusals: always,
    command: UserPairing.commands.unpairAll,
    summary: 'Removes all pairings and all that are under way.',
  }),
  endpoint(`GET ${base}/usage`, {
    refusals: always,
    command: UserPairing.commands.getPairingUsage,
    summary: 'What was asked of the provider by one pairing.',
  }),
].map((each) => ({
  ...each,
  handle: async (context: RequestContext<'session'>, request: unknown) =>
    flat(await each.handle(context, request)),
}));

const anyValue = z.unknown().optional();

const callbackRoute = ({ pairedForOperator }: RoutesOptions) =>
  route(`GET ${base}/callback`, {
    access: 'public',
    rate: callbacks,
    summary: 'Where the provider sends the browser back: a page that says whether the pairing is complete.',
    request: z.object({ code: anyValue, state: anyValue, error: anyValue }),
    replies: Object.fromEntries(
      [200, 400, 401, 403, 409, 429, 500, 502, 503].map((status) => [status, { mediaType: htmlType }]),
    ),
    replyHeaders: {
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Content-Security-Policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    },
    refusalPage: notPaired,
    handle: async ({ actors, ask }, { code, state, error }): Promise<RouteReply> => {
      const answer = await actors.get(Pairing, pairingId).ask.callback({ code, state, error }, ask);
      if (isRefused(answer)) {
        const { message } = answer.refused;
        return { status: statusOf(answer.refused), contentType: htmlType, body: notPaired(message) };
      }
      const { pairedForOperator: subscriptionId } = answer.ok;
      if (subscriptionId !== null) pairedForOperator(subscriptionId);
      return { status: 200, contentType: htmlType, body: page('Paired', 'You can close this page.') };
    },
  });

const notPaired = (message: string): string => page('Not paired', message);

/** `title` and `text` are not escaped, so they must be texts of this program and contain nothing from a request. */
const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`;

export const pairingRoutes = (options: RoutesOptions): readonly AnyRoute[] => [
  ...administration,
  callbackRoute(options),
];
