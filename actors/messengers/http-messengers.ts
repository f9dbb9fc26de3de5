/**
 * Messengers over HTTP: one request for each message, to a host that is written here. Only the status of an answer counts, and the
 * time after which to try again. No words of a provider are kept or shown.
 *
 * Only a few messages are sent at once, each holds its slot for a minimum time, and few may wait. So messages that are due
 * together leave evenly, and the others are told to come again later.
 */
import { type Clock, sleep } from '../../runtime/clock.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import {
  type OutboundAnswer,
  OutboundError,
  type OutboundHttp,
  type OutboundRequest,
} from '../outbound/http.ts';
import { createQueue, type InTurn } from '../queue.ts';
import type { MessengerDelivery, MessengerResult, Messengers } from './messengers.ts';
import type { MessengerCredentials } from './settings.ts';

const timeoutMs = 15_000;
const answerBytesMax = 65_536;
/** With the minimum time, 16 in a second: Telegram allows a bot 30, the others more. */
const concurrent = 4;
const slotMs = 250;
/** So few that the last one waits for a minute at most, even if each call takes all of its time. */
const waiting = 16;
const retryAfterMaxMs = 6 * 3_600_000;
const twilioCharactersMax = 1_600;

type MessengerRequest = Pick<OutboundRequest, 'url' | 'headers' | 'body'>;

interface MessengerProvider {
  readonly inTurn: InTurn;
  request(message: Pick<MessengerDelivery, 'destination' | 'text'>): MessengerRequest;
  /** Statuses that say that the operator's credentials are wrong. */
  readonly refusesUs: readonly number[];
}

export interface MessengersOptions {
  readonly http: OutboundHttp;
  readonly clock: Clock;
  readonly credentials: MessengerCredentials;
}

export function createMessengers({ http, clock, credentials }: MessengersOptions): Messengers {
  const providers = { telegram: telegram(credentials), whatsapp: graph(credentials) ?? twilio(credentials) };

  async function call(
    provider: MessengerProvider,
    { signal, ...delivery }: MessengerDelivery,
  ): Promise<MessengerResult> {
    if (!(await delivery.markInFlight())) return { result: 'withdrawn' };
    const request = {
      method: 'POST',
      ...provider.request(delivery),
      timeoutMs,
      answerBytesMax,
      signal,
    } as const;
    return http.send({ destination: 'fixed', ...request }).then(
      (answer) => resultOf(answer, provider),
      (error) => resultOfError(error),
    );
  }

  return {
    isConfigured: (channel) => providers[channel] !== undefined,
    send(delivery) {
      const provider = providers[delivery.channel];
      if (provider === undefined) return Promise.resolve({ result: 'unable', failure: 'not-configured' });
      return new Promise((resolve, reject) => {
        const work = async () => {
          const paced = sleep(clock, slotMs);
          // The result is returned at once, as the message is in doubt until its result is stored.
          await call(provider, delivery).then(resolve, reject);
          await paced;
        };
        provider.inTurn(work, delivery.signal).catch((error) => {
          if (error instanceof OverloadedError) resolve({ result: 'unable', failure: 'transient' });
          else reject(error);
        });
      });
    },
  };
}

function resultOf(answer: OutboundAnswer, { refusesUs }: MessengerProvider): MessengerResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { result: 'accepted' };
  if (status === 429) return { result: 'unable', failure: 'transient', ...retryAfterOf(answer) };
  if (refusesUs.includes(status)) return { result: 'unable', failure: 'not-configured' };
  // A gateway in front of the provider does not know the result.
  if (status === 502 || status === 504) return { result: 'uncertain' };
  if (status >= 500) return { result: 'transient', failure: 'transient' };
  return { result: 'rejected' };
}

function resultOfError(error: unknown): MessengerResult {
  if (!(error instanceof OutboundError)) throw error;
  if (error.mayHaveArrived) return { result: 'uncertain' };
  if (error.failure === 'overloaded') return { result: 'unable', failure: 'transient' };
  return { result: 'transient', failure: error.failure === 'timeout' ? 'timeout' : 'transient' };
}

/** Reads the `Retry-After` header, or Telegram's field of the body. */
function retryAfterOf({ headers, body }: OutboundAnswer): { readonly retryAfterMs?: number } {
  const seconds = Number(headers.get('retry-after') ?? telegramRetryAfter(body));
  if (!Number.isFinite(seconds) || seconds <= 0) return {};
  return { retryAfterMs: Math.min(Math.ceil(seconds * 1_000), retryAfterMaxMs) };
}

function telegramRetryAfter(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())?.parameters?.retry_after;
  } catch {
    return undefined;
  }
}

// --- providers -----------------------------------------------------------------------------------------------

const json = { 'content-type': 'application/json' };

const newQueue = () => createQueue({ concurrent, waiting }, 'too many messages wait for a messenger');

function telegram({ telegramBotToken }: MessengerCredentials): MessengerProvider | undefined {
  if (telegramBotToken === undefined) return undefined;
  return {
    inTurn: newQueue(),
    // A wrong token is a path that does not exist. 403 means that the user has blocked the bot.
    refusesUs: [401, 404],
    request: ({ destination, text }) => ({
      url: `https://api.telegram.org/bot${telegramBotToken}/sendMessage`,
      headers: json,
      body: JSON.stringify({ chat_id: destination, text, disable_web_page_preview: true }),
    }),
  };
}

function graph({ whatsappToken, whatsappPhoneId }: MessengerCredentials): MessengerProvider | undefined {
  if (whatsappToken === undefined || whatsappPhoneId === undefined) return undefined;
  return {
    inTurn: newQueue(),
    refusesUs: [401, 403],
    request: ({ destination, text }) => ({
      url: `https://graph.facebook.com/v19.0/${whatsappPhoneId}/messages`,
      headers: { ...json, authorization: `Bearer ${whatsappToken}` },
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        to: digitsOf(destination),
        type: 'text',
        text: { body: text },
      }),
    }),
  };
}

function twilio(credentials: MessengerCredentials): MessengerProvider | undefined {
  const { twilioAccountSid: sid, twilioAuthToken, twilioWhatsappFrom } = credentials;
  if (sid === undefined || twilioAuthToken === undefined || twilioWhatsappFrom === undefined)
    return undefined;
  const numbered = (number: string) => `whatsapp:+${digitsOf(number)}`;
  return {
    inTurn: newQueue(),
    refusesUs: [401, 403],
    request: ({ destination, text }) => ({
      url: `https://api.twilio.com/2010-04-01/Accounts/${sid}/Messages.json`,
      headers: {
        authorization: `Basic ${Buffer.from(`${sid}:${twilioAuthToken}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        To: numbered(destination),
        From: numbered(twilioWhatsappFrom),
        Body: cut(text, twilioCharactersMax),
      }).toString(),
    }),
  };
}

const digitsOf = (number: string): string => number.replaceAll(/\D/g, '');

/** Cuts between characters, never within one. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
