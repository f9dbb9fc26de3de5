/** The server's sender of mail, which chooses by the kind of the relay. */
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
