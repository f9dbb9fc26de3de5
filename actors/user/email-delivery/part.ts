/**
 * The administration of mail, as administrators ask it of their own actor: it decides whether they are that, and asks the
 * mailer.
 */
import { mailerId } from '../../mailer/contract.ts';
import { MailAdministration } from '../../mailer/operator-contract.ts';
import { administeredBy } from '../administered.ts';
import { User } from '../contract.ts';

const administered = administeredBy({
  actorOf: (actors) => actors.get(MailAdministration, mailerId).ask,
  unavailable: {
    refused: {
      status: 503,
      tag: 'email-delivery-unavailable',
      message: 'The mail queue cannot be reached at the moment. Please try again.',
      retryAfterMs: 5_000,
    },
  },
});

export const emailDeliveryCommands = {
  listMailRelays: administered(User.commands.listMailRelays, (mailer) => mailer.listRelays({})),
  setMailRelays: administered(User.commands.setMailRelays, (mailer, { by, relays, fallbackPolicy }) =>
    mailer.setRelays({ by, relays, fallbackPolicy }),
  ),
  testMail: administered(User.commands.testMail, (mailer, { by, recipient, relayId }) =>
    mailer.test({ by, recipient, relayId }),
  ),
  listMailQueue: administered(User.commands.listMailQueue, (mailer, { state, limit, cursor }) =>
    mailer.listQueue({ state, limit, cursor }),
  ),
  listMailLog: administered(User.commands.listMailLog, (mailer, { limit, cursor, relayId, outcome }) =>
    mailer.listLog({ limit, cursor, relayId, outcome }),
  ),
  listMailAudit: administered(User.commands.listMailAudit, (mailer, { limit, cursor }) =>
    mailer.listAudit({ limit, cursor }),
  ),
  retryMail: administered(User.commands.retryMail, (mailer, { by, id }) => mailer.retry({ by, id })),
  discardMail: administered(User.commands.discardMail, (mailer, { by, id }) => mailer.discard({ by, id })),
};
