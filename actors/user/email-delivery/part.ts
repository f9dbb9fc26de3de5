/** The administration of mail: passes the requests of administrators on to the mailer. */
import { mailerId } from '../../mailer/contract.ts';
import { MailAdministration } from '../../mailer/operator-contract.ts';
import { refuse } from '../../reply.ts';
import { adminForwarder } from '../administered.ts';
import { userPart } from '../hooks.ts';
import { EmailDelivery } from './contract.ts';

const forward = adminForwarder({
  askOf: (actors) => actors.get(MailAdministration, mailerId).ask,
  unavailable: refuse.notNow('The mail queue cannot be reached at the moment. Please try again.', 5_000, {
    tag: 'email-delivery-unavailable',
  }),
});

export const emailDelivery = userPart(EmailDelivery, {
  name: 'email-delivery',
  commands: {
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
  },
});
