/** The administration of mail: passes the requests of administrators on to the mailer. */
import { mailerId } from '../../mailer/contract.ts';
import { MailAdministration } from '../../mailer/operator-contract.ts';
import { administeredBy } from '../administered.ts';
import { userPart } from '../hooks.ts';
import { EmailDelivery } from './contract.ts';

const administered = administeredBy({
  actorOf: (actors) => actors.get(MailAdministration, mailerId).ask,
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
  listMailRelays: administered(EmailDelivery.commands.listMailRelays, (mailer) => mailer.listRelays({})),
  setMailRelays: administered(EmailDelivery.commands.setMailRelays, (mailer, asked) =>
    mailer.setRelays(asked),
  ),
  testMail: administered(EmailDelivery.commands.testMail, (mailer, asked) => mailer.test(asked)),
  listMailQueue: administered(EmailDelivery.commands.listMailQueue, (mailer, asked) =>
    mailer.listQueue(asked),
  ),
  listMailLog: administered(EmailDelivery.commands.listMailLog, (mailer, asked) => mailer.listLog(asked)),
  listMailAudit: administered(EmailDelivery.commands.listMailAudit, (mailer, asked) =>
    mailer.listAudit(asked),
  ),
  retryMail: administered(EmailDelivery.commands.retryMail, (mailer, asked) => mailer.retry(asked)),
  discardMail: administered(EmailDelivery.commands.discardMail, (mailer, asked) => mailer.discard(asked)),
};

export const emailDelivery = userPart(EmailDelivery, { name: 'email-delivery', commands });
