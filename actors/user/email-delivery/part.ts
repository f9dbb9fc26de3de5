/** The administration of mail: passes the requests of administrators on to the mailer. */
import { mailerId } from '../../mailer/contract.ts';
import { MailAdministration } from '../../mailer/operator-contract.ts';
import { adminForwarder } from '../administered.ts';
import { userPart } from '../hooks.ts';
import { EmailDelivery } from './contract.ts';

const forward = adminForwarder({
  askOf: (actors) => actors.get(MailAdministration, mailerId).ask,
  unavailable: {
    refused: {
      reason: 'unavailable',
      tag: 'email-delivery-unavailable',
      message: 'The mail queue cannot be reached at the moment. Please try again.',
      retryAfterMs: 5_000,
    },
  },
});

const commands = {
  listMailRelays: forward(EmailDelivery.commands.listMailRelays, (mailer) => mailer.listRelays({})),
  setMailRelays: forward(EmailDelivery.commands.setMailRelays, (mailer, request) =>
    mailer.setRelays(request),
  ),
  testMail: forward(EmailDelivery.commands.testMail, (mailer, request) => mailer.test(request)),
  listMailQueue: forward(EmailDelivery.commands.listMailQueue, (mailer, request) =>
    mailer.listQueue(request),
  ),
  listMailLog: forward(EmailDelivery.commands.listMailLog, (mailer, request) => mailer.listLog(request)),
  listMailAudit: forward(EmailDelivery.commands.listMailAudit, (mailer, request) =>
    mailer.listAudit(request),
  ),
  retryMail: forward(EmailDelivery.commands.retryMail, (mailer, request) => mailer.retry(request)),
  discardMail: forward(EmailDelivery.commands.discardMail, (mailer, request) => mailer.discard(request)),
};

export const emailDelivery = userPart(EmailDelivery, { name: 'email-delivery', commands });
