/** A relay in memory that takes every mail: what servers send, for tests to read. */
import type { Delivery, MailSender, Message, Result } from '../../actors/mailer/sender.ts';

export class Postbox implements MailSender {
  readonly messages: Message[] = [];
  /** What comes of each attempt that follows; `sent` where this says nothing. */
  answer: (delivery: Delivery) => Result | undefined | Promise<Result | undefined> = () => undefined;

  async send(delivery: Delivery): Promise<Result> {
    const result = (await this.answer(delivery)) ?? { result: 'sent' };
    if (result.result !== 'sent') return result;
    await delivery.handOver();
    this.messages.push(delivery.message);
    return result;
  }
}
