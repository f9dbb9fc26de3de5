/** The administration of mail (docs/protocol/email-delivery.md). */
import { EmailDelivery } from '../../actors/user/email-delivery/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family } from './endpoint.ts';

const base = '/v1/admin/email-delivery';
const { endpoint } = family({ tag: 'Email delivery administration', enveloped: false });
/**
 * What each of them may answer: the caller is no administrator, there is no administration, or the mailer is
 * unavailable.
 */
const always = [403, 501, 503];

export const emailDeliveryRoutes: readonly AnyRoute[] = [
  endpoint(`GET ${base}/relays`, {
    command: EmailDelivery.commands.listMailRelays,
    summary: 'The relays that mail goes through, without their credentials.',
    refusals: always,
  }),
  endpoint(`PUT ${base}/relays`, {
    command: EmailDelivery.commands.setMailRelays,
    summary: 'Replaces the whole list of relays.',
    refusals: [...always, 400],
  }),
  endpoint(`POST ${base}/test`, {
    command: EmailDelivery.commands.testMail,
    summary: 'Sends a fixed text through a relay, and says what became of it.',
    refusals: [...always, 400, 404, 409, 429],
  }),
  endpoint(`GET ${base}/queue`, {
    command: EmailDelivery.commands.listMailQueue,
    summary: 'The mails of one state of the queue, without content and recipients.',
    refusals: [...always, 400],
  }),
  endpoint(`GET ${base}/logs`, {
    command: EmailDelivery.commands.listMailLog,
    summary: 'The attempts to send mail, the newest first.',
    refusals: [...always, 400],
  }),
  endpoint(`GET ${base}/audit`, {
    command: EmailDelivery.commands.listMailAudit,
    summary: 'What administrators and operators did with mail, the newest first.',
    refusals: [403, 503, 400],
  }),
  endpoint(`POST ${base}/queue/:id/retry`, {
    command: EmailDelivery.commands.retryMail,
    status: 202,
    summary: 'Has a mail tried again at once.',
    refusals: [...always, 404, 409],
  }),
  endpoint(`DELETE ${base}/queue/:id`, {
    command: EmailDelivery.commands.discardMail,
    status: 204,
    summary: 'Throws a mail away.',
    refusals: [...always, 404, 409],
  }),
];
