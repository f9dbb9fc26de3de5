/** Counts the results of attempts to send mail, by class and without addresses. */
import { Counter, type Registry } from 'prom-client';
import type { MailSender } from './sender.ts';

export function countedMailSender(sender: MailSender, registry: Registry): MailSender {
  const attempts = new Counter({
    name: 'scriptorium_mail_attempts_total',
    help: 'Attempts to hand a mail to a relay that this process has made, by the kind of the relay, what came of them and why. `lost`: the mail was another lane’s by then, and nothing was sent',
    labelNames: ['relay', 'outcome', 'failure'],
    registers: [registry],
  });
  return {
    async send(delivery) {
      const relay = delivery.relay.kind;
      try {
        const result = await sender.send(delivery);
        const failure = result.result === 'sent' ? '' : result.failure;
        attempts.inc({ relay, outcome: result.result, failure });
        return result;
      } catch (error) {
        attempts.inc({ relay, outcome: 'lost', failure: '' });
        throw error;
      }
    },
  };
}
