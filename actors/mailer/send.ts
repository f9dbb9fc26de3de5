/** The server's sender of mail, which chooses by the kind of the relay. */
import type { OutboundHttp } from '../outbound/http.ts';
import { createHosted } from './hosted.ts';
import type { MailSender } from './sender.ts';
import { createSmtp } from './smtp.ts';
import type { SessionOptions } from './smtp-session.ts';

export function createMailSender(options: SessionOptions & { readonly http: OutboundHttp }): MailSender {
  const smtp = createSmtp(options);
  const hosted = createHosted(options.http);
  return {
    send: ({ relay, ...delivery }) =>
      relay.kind === 'smtp' ? smtp({ ...delivery, relay }) : hosted({ ...delivery, relay }),
  };
}
