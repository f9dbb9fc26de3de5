/** In-memory messengers that accept every message, so that tests can read what servers send. */
import type {
  MessengerChannel,
  MessengerDelivery,
  MessengerResult,
  Messengers,
} from '../../actors/messengers/messengers.ts';

export class Chats implements Messengers {
  readonly messages: Pick<MessengerDelivery, 'channel' | 'destination' | 'text'>[] = [];
  /** The result of each further message, after it was handed over. */
  answer: (
    delivery: MessengerDelivery,
  ) => MessengerResult | undefined | Promise<MessengerResult | undefined> = () => undefined;
  readonly #channels: readonly MessengerChannel[];

  constructor(channels: readonly MessengerChannel[] = ['telegram', 'whatsapp']) {
    this.#channels = channels;
  }

  isConfigured(channel: MessengerChannel): boolean {
    return this.#channels.includes(channel);
  }

  async send(delivery: MessengerDelivery): Promise<MessengerResult> {
    if (!(await delivery.markInFlight())) return { result: 'withdrawn' };
    const { channel, destination, text } = delivery;
    this.messages.push({ channel, destination, text });
    return (await this.answer(delivery)) ?? { result: 'accepted' };
  }
}
