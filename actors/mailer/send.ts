/** The sender of mail as the server has it: by the kind of the relay. */
import type { MailSender } from './sender.ts';
import { createSmtp, type SmtpOptions } from './smtp.ts';

export function createMailSender(options: SmtpOptions): MailSender {
  const smtp = createSmtp(options);
  return { send: (delivery) => smtp(delivery) };
}
