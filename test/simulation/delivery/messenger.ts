/**
 * The messengers of the simulation, as one process sees them. They run the server's own code. In place of the
 * internet there are providers that take messages, refuse some, or are cut off in the middle. The seed chooses one of
 * WhatsApp's two providers.
 */
import { createMessengers } from '../../../actors/messengers/http-messengers.ts';
import type {
  MessengerDelivery,
  MessengerResult,
  Messengers,
} from '../../../actors/messengers/messengers.ts';
import type { MessengerCredentials } from '../../../actors/messengers/settings.ts';
import { type OutboundAnswer, OutboundError, type OutboundRequest } from '../../../actors/outbound/http.ts';
import type { MessageAttempt, MessageChecker } from '../checkers/messages.ts';
import type { SimulatedProcess } from '../process.ts';
import { DeliveryFaults, type DeliveryFaultsOptions } from './faults.ts';

export const whatsappProviders = ['graph', 'twilio'] as const;

export interface MessengerOptions extends DeliveryFaultsOptions {
  readonly messages: MessageChecker;
  readonly whatsapp: (typeof whatsappProviders)[number];
}

const telegram = { telegramBotToken: '1:token' };
const credentials: Readonly<Record<MessengerOptions['whatsapp'], MessengerCredentials>> = {
  graph: { ...telegram, whatsappToken: 'token', whatsappPhoneId: '7' },
  twilio: {
    ...telegram,
    twilioAccountSid: 'AC1',
    twilioAuthToken: 'token',
    twilioWhatsappFrom: '+4915198765432',
  },
};

export class Messenger {
  readonly #options: MessengerOptions;
  /** Messages are identified by their text. */
  readonly #faults: DeliveryFaults;

  constructor(options: MessengerOptions) {
    this.#options = options;
    this.#faults = new DeliveryFaults(options);
  }

  heal(): void {
    this.#faults.heal();
  }

  of(process: SimulatedProcess): Messengers {
    return { isConfigured: () => true, send: (delivery) => this.#send(process, delivery) };
  }

  async #send(process: SimulatedProcess, delivery: MessengerDelivery): Promise<MessengerResult> {
    const { plan, messages, whatsapp } = this.#options;
    const { text } = delivery;
    await this.#faults.step(process);
    if (this.#faults.putsOff(text, plan.relay.unable)) return { result: 'unable', failure: 'transient' };
    const attempt = messages.attempted(text);
    // For this message alone, so that the provider's input certainly belongs to this attempt.
    const http = { send: (request: OutboundRequest) => this.#request(process, attempt, request) };
    return createMessengers({ http, clock: process, credentials: credentials[whatsapp] }).send(delivery);
  }

  async #request(
    process: SimulatedProcess,
    attempt: MessageAttempt,
    request: OutboundRequest,
  ): Promise<OutboundAnswer> {
    if (textIn(request) !== attempt.text) throw new Error('a provider is asked to send another text');
    // The provider learns of it when the request has arrived.
    await this.#faults.step(process);
    this.#options.messages.begun(attempt);
    const status = await this.#message(process, attempt);
    await this.#faults.step(process);
    if (status === undefined) throw new OutboundError('broken', true);
    return { status, headers: new Map(), body: Buffer.alloc(0) };
  }

  /** Undefined: the connection is cut. */
  #message(process: SimulatedProcess, attempt: MessageAttempt): Promise<number | undefined> {
    const { plan, random, messages } = this.#options;
    const isPutOff = this.#faults.putsOff(attempt.text, plan.relay.putOffLate);
    const isRefused = !isPutOff && this.#faults.draws(plan.relay.putOff);
    const isCut = !isPutOff && !isRefused && this.#faults.draws(plan.relay.cut);
    const isTaken = !isPutOff && !isRefused && (!isCut || random.chance(0.5));
    const status = isPutOff ? 503 : isRefused ? 400 : isCut ? undefined : 200;
    return this.#faults.outside(process, () => {
      messages.ended(attempt, isTaken);
      return status;
    });
  }
}

/** In the format of each provider. */
function textIn({ url, body }: OutboundRequest): string | null {
  const { hostname } = new URL(url);
  if (hostname === 'api.twilio.com') return new URLSearchParams(String(body)).get('Body');
  const { text } = JSON.parse(String(body));
  return hostname === 'graph.facebook.com' ? text.body : text;
}
