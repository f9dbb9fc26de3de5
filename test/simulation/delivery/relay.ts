/**
 * The relay of the simulation, as one process sees it: it accepts mails, puts them off, or is cut off in the middle.
 */
import type { MailDelivery, MailMessage, MailSender, SendResult } from '../../../actors/mailer/sender.ts';
import type { Attempt, MailChecker } from '../checkers/mails.ts';
import type { SimulatedProcess } from '../process.ts';
import { DeliveryFaults, type DeliveryFaultsOptions } from './faults.ts';
import { mailWaitMaxMs } from './plan.ts';

export interface RelayOptions extends DeliveryFaultsOptions {
  readonly mails: MailChecker;
}

const sent: SendResult = { result: 'sent' };
const unable: SendResult = { result: 'unable', failure: 'connection' };
const putOff: SendResult = { result: 'transient', failure: 'provider' };
const cut: SendResult = { result: 'uncertain', failure: 'timeout' };

export class Relay {
  readonly #options: RelayOptions;
  /** Mails are identified by their `Message-ID`. */
  readonly #faults: DeliveryFaults;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#faults = new DeliveryFaults(options);
  }

  heal(): void {
    this.#faults.heal();
  }

  senderOf(process: SimulatedProcess): MailSender {
    return { send: (delivery) => this.#send(process, delivery) };
  }

  async #send(process: SimulatedProcess, { message, handOver }: MailDelivery): Promise<SendResult> {
    const { plan, mails } = this.#options;
    await this.#faults.step(process);
    if (this.#faults.draws(plan.relay.unable)) return unable;
    if (this.#putsOff(message, plan.relay.putOff)) return putOff;
    const attempt = mails.attempted(message);
    await handOver();
    await this.#faults.strike(process);
    mails.begun(attempt);
    const result = await this.#message(process, attempt);
    await this.#faults.step(process);
    return result;
  }

  #message(process: SimulatedProcess, attempt: Attempt): Promise<SendResult> {
    const { plan, random, mails } = this.#options;
    const { message } = attempt;
    const isPutOff = this.#putsOff(message, plan.relay.putOffLate);
    const isCut = !isPutOff && this.#putsOff(message, plan.relay.cut);
    const isTaken = !isPutOff && (!isCut || random.chance(0.5));
    return this.#faults.outside(process, () => {
      mails.ended(attempt, isTaken);
      return isCut ? cut : isPutOff ? putOff : sent;
    });
  }

  /** Attempts that crashes have cut short count too. So the first time that a mail is put off may bring a long wait. */
  #putsOff(message: MailMessage, chance: number): boolean {
    const waitMs = this.#options.mails.waitMsIfPutOff(message);
    return waitMs <= mailWaitMaxMs && this.#faults.putsOff(message.messageId, chance);
  }
}
