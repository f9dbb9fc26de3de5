/** Stops mail to a mailbox by the link that each mail carries (docs/protocol/delivery.md, "Stopping mail"). */
import { z } from 'zod';
import { Mailer, mailerId, unsubscribePath } from '../../actors/mailer/contract.ts';
import { htmlType } from '../http/responder.ts';
import { type AnyRoute, type RouteReply, route } from '../http/route.ts';
import type { RoutesOptions } from './options.ts';

/** The texts are not escaped, so they must be texts of this program and contain nothing from a request. */
const page = (status: number, title: string, text: string, form = ''): RouteReply => ({
  status,
  contentType: htmlType,
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p>${form}</body></html>\n`,
});

const unknownLink = page(404, 'Link not found', 'Please open the whole link of a mail from this server.');
const question = page(
  200,
  'Stop mail from this server?',
  'This address gets no more mail from here, except codes for signing in and security notices of an account that has this address.',
  '<form method="post"><button>Stop mail</button></form>',
);
const stopped = page(200, 'Mail is stopped', 'You can close this page.');

const common = {
  ...({ path: `${unsubscribePath}/:token`, access: 'public', tag: 'Mail', enveloped: false } as const),
  request: z.object({ token: z.string().max(64) }),
  replies: { 200: { mediaType: htmlType }, 404: { mediaType: htmlType } },
  replyHeaders: {
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy':
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  },
} as const;

export const unsubscribeRoutes = ({ signinKeys }: RoutesOptions): readonly AnyRoute[] => [
  route({
    ...common,
    method: 'GET',
    safe: true,
    summary:
      'A page that asks whether to stop mail. Programs open the links of mails, so opening it stops nothing.',
    handle: async (_context, { token }) =>
      signinKeys.readUnsubscribeToken(token) === undefined ? unknownLink : question,
  }),
  route({
    ...common,
    method: 'POST',
    body: 'bytes',
    bodyType: 'application/x-www-form-urlencoded',
    summary: 'Stops mail to the address that the link was mailed to (RFC 8058).',
    handle: async ({ actors, ask }, { token }) => {
      const mailbox = signinKeys.readUnsubscribeToken(token);
      if (mailbox === undefined) return unknownLink;
      await actors.get(Mailer, mailerId).ask.unsubscribe({ mailbox }, ask);
      return stopped;
    },
  }),
];
