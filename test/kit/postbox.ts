/** An in-memory relay that accepts every mail, so that tests can read what servers send. */
import type { MailDelivery, MailMessage, MailSender, SendResult } from '../../actors/mailer/sender.ts';

export class Postbox implements MailSender {
  readonly messages: MailMessage[] = [];
  /** The result of each further attempt; `sent` if it says nothing. */
  answer: (delivery: MailDelivery) => SendResult | undefined | Promise<SendResult | undefined> = () =>
    undefined;

  async send(delivery: MailDelivery): Promise<SendResult> {
    const result = (await this.answer(delivery)) ?? { result: 'sent' };
    if (result.result !== 'sent') return result;
    await delivery.handOver();
    this.messages.push(delivery.message);
    return result;
  }
}

/** The options that make a server send its mail to a postbox. */
export function mailTo(mailSender: Postbox) {
  return { mailSender, mail: { host: 'localhost', from: { name: 'Notes', address: 'notes@notes.test' } } };
}
