/** The server's sender of mail, which chooses by the kind of the relay, and whose attempts are counted. */
import type { Registry } from 'prom-client';
import { meterOf } from '../../runtime/meter.ts';
import type { OutboundHttp } from '../outbound/http.ts';
import { createHosted } from './hosted.ts';
import type { MailSender } from './sender.ts';
import type { createSmtp } from './smtp.ts';
import type { SessionOptions } from './smtp-session.ts';

export function createMailSender(options: SessionOptions & { readonly http: OutboundHttp }): MailSender {
  let loading: Promise<ReturnType<typeof createSmtp>> | undefined;
  const hosted = createHosted(options.http);
  // Most servers never send mail by SMTP, and its client takes memory and time to load.
  const smtp = () => {
    loading ??= import('./smtp.ts').then((module) => module.createSmtp(options));
    return loading;
  };
  return {
    send: async ({ relay, ...delivery }) =>
      relay.kind === 'smtp' ? (await smtp())({ ...delivery, relay }) : hosted({ ...delivery, relay }),
  };
}

/** Counts the results of attempts, by class and without addresses. */
export function countedMailSender(sender: MailSender, registry: Registry): MailSender {
  const attempts = meterOf(registry).counter(
    'scriptorium_mail_attempts_total',
    'Attempts to hand a mail to a relay that this process has made, by the kind of the relay, what came of them and why. `lost`: the mail was another worker’s by then, and nothing was sent',
    ['relay', 'outcome', 'failure'],
  );
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
