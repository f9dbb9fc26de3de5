/**
 * The administration of mail, as administrators ask it of their own actor: it decides whether they are that, and asks the
 * mailer.
 */

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
  setMailRelays: administered(
    EmailDelivery.commands.setMailRelays,
    (mailer, { by, relays, fallbackPolicy }) => mailer.setRelays({ by, relays, fallbackPolicy }),
  ),
  testMail: administered(EmailDelivery.commands.testMail, (mailer, { by, recipient, relayId }) =>
    mailer.test({ by, recipient, relayId }),
  ),
  listMailQueue: administered(EmailDelivery.commands.listMailQueue, (mailer, { state, limit, cursor }) =>
    mailer.listQueue({ state, limit, cursor }),
  ),
  listMailLog: administered(
    EmailDelivery.commands.listMailLog,
    (mailer, { limit, cursor, relayId, outcome }) => mailer.listLog({ limit, cursor, relayId, outcome }),
  ),
  listMailAudit: administered(EmailDelivery.commands.listMailAudit, (mailer, { limit, cursor }) =>
    mailer.listAudit({ limit, cursor }),
  ),
  retryMail: administered(EmailDelivery.commands.retryMail, (mailer, { by, id }) => mailer.retry({ by, id })),
  discardMail: administered(EmailDelivery.commands.discardMail, (mailer, { by, id }) =>
    mailer.discard({ by, id }),
  ),
};

export const emailDelivery = userPart(EmailDelivery, { name: 'email-delivery', commands });
