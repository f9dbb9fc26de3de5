/**
 * The assistant as routes see it. Only this module asks the operator's providers (docs/protocol/assistant.md).
 *
 * Invariants:
 * - A stream ends when its reader leaves, its session ends, the process stops, its time is over or its provider
 *   fails. The connection to the provider then ends at once. Only one piece is in memory: the next is requested when
 *   the reader has taken that one.
 * - The request is released once the provider has it.
 * - Keys go to the base URL of their provider and nowhere else: no redirect is followed.
 * - No log, error or metric contains a request or an answer.
 */
import type { Registry } from 'prom-client';
import type { ConfiguredProviders, ProviderAccess } from '../../actors/assistant/policy.ts';
import type { AssistantProfile, ProviderId } from '../../actors/assistant/profiles.ts';
import {
  OutboundError,
  type OutboundHttp,
  type OutboundStream,
  type OutboundStreams,
} from '../../actors/outbound/http.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type FairShare, mayTakeOneMore } from '../../runtime/fair-share.ts';
import { meterOf } from '../../runtime/meter.ts';
import { Counts } from '../http/counts.ts';
import { AssistantAnswer } from './answer.ts';
import { anthropic } from './anthropic.ts';
import { type AllowedSettings, type PendingChatRequest, samplingOf } from './chat-request.ts';
import { framesOf, pingFrame } from './events.ts';
import { AnswerError, type AnswerFailure, answerFailureOf, failureOfStatus } from './failure.ts';
import { ModelLists } from './model-lists.ts';
import { ollama } from './ollama.ts';
import { openai } from './openai.ts';
import type { Provider } from './provider.ts';
import { AnswerReader } from './reader.ts';

const providers: Readonly<Record<ProviderId, Provider>> = {
  anthropic,
  openai,
  ollama,
  subscription: openai,
};

/** The time for a whole answer. The user's actor reserves the slot for longer than this. */
const answerMs = 10 * 60_000;
const idleMs = 120_000;
const answerBytesMax = 16 * 1_048_576;
const pingMs = 15_000;
/** A user without a stream gets a slot even when a hundred others hold all that they may. */
const share: FairShare = { least: 1, percentOfFree: 3 };

type StreamOutcome = 'answered' | 'left' | AnswerFailure;

export interface AssistantOptions {
  readonly http: OutboundHttp & OutboundStreams;
  readonly clock: Clock;
  readonly providers: ConfiguredProviders;
  /** The default profile, as clients see it. */
  readonly default: Pick<AssistantProfile, 'provider' | 'model'> | undefined;
  readonly streamsMax: number;
  readonly ended?: (provider: ProviderId, outcome: StreamOutcome) => void;
}

export interface StreamEnd {
  /** The provider may have received the request. */
  readonly mayHaveArrived: boolean;
  readonly isRejected?: boolean;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
}

export interface AnswerRequest extends Pick<AssistantProfile, 'provider' | 'model'>, AllowedSettings {
  readonly streamUuid: string;
  readonly chatRequest: PendingChatRequest;
  readonly gone: AbortSignal;
  readonly stopping: AbortSignal;
  /** The session is over. */
  readonly ended: AbortSignal;
  /** The access token of the pairing that answers. Undefined: the pairing has none at the moment. */
  readonly accessToken?: string | undefined;
  /** Called once the stream is over, whatever its outcome. */
  readonly onEnd: (end: StreamEnd) => void;
}

export class Assistant {
  readonly #options: AssistantOptions;
  readonly #models: ModelLists;
  #streams = 0;
  readonly #streamsOf = new Counts();

  constructor(options: AssistantOptions) {
    this.#options = options;
    this.#models = new ModelLists(options);
  }

  get config() {
    const { providers: configured, default: byDefault } = this.#options;
    // Clients learn whether pairings exist only when one of them answers.
    const ids = [...configured.keys()].filter((id) => id !== 'subscription' || id === byDefault?.provider);
    return {
      providers: ids,
      defaultProvider: byDefault?.provider ?? ids[0] ?? '',
      defaultModel: byDefault?.model ?? '',
    };
  }

  get streams(): number {
    return this.#streams;
  }

  /** Undefined: this provider is not set up. Empty: it publishes no list. */
  async models(id: ProviderId): Promise<readonly string[] | undefined> {
    const access = this.#options.providers.get(id);
    if (id !== 'subscription') return access && this.#models.of(id, providers[id], access);
    // A model list would need a pairing, so clients see only the pairing that answers them.
    const { provider, model } = this.#options.default ?? {};
    return access !== undefined && provider === id && model !== undefined ? [model] : undefined;
  }

  /**
   * Takes a slot for a stream. Undefined: there is none for this user. The function it returns frees the slot, once.
   */
  takeSlot(userUuid: string): (() => void) | undefined {
    const free = this.#options.streamsMax - this.#streams;
    if (!mayTakeOneMore(this.#streamsOf.of(userUuid), free, share)) return undefined;
    const count = (change: number) => {
      this.#streams += change;
      this.#streamsOf.add(userUuid, change);
    };
    count(1);
    let isReserved = true;
    return () => {
      if (isReserved) count(-1);
      isReserved = false;
    };
  }

  /** The frames of an answer, with pings while the provider is silent. It never throws for a fault of the provider. */
  async *answer(request: AnswerRequest): AsyncGenerator<Uint8Array, void, void> {
    const leave = new AbortController();
    const frames = this.#frames(request, leave);
    let next = frames.next();
    try {
      yield Buffer.from(pingFrame);
      for (;;) {
        const frame = await this.#within(pingMs, next);
        if (frame === undefined) {
          yield Buffer.from(pingFrame);
          continue;
        }
        if (frame.done) return;
        yield Buffer.from(frame.value);
        next = frames.next();
      }
    } finally {
      leave.abort();
      // Nobody needs its outcome any more.
      next.then(
        () => frames.return(),
        () => {},
      );
    }
  }

  async *#frames(request: AnswerRequest, leave: AbortController): AsyncGenerator<string, void, void> {
    const { provider: id, streamUuid, gone, stopping, ended, onEnd } = request;
    const answer = new AssistantAnswer(`call-${streamUuid}`);
    let mayHaveArrived = false;
    let isRejected = false;
    let outcome: StreamOutcome = 'left';
    try {
      const signal = AbortSignal.any([leave.signal, gone, stopping, ended]);
      const { status, chunks } = await this.#open(request, signal).catch((error: unknown) => {
        mayHaveArrived = error instanceof OutboundError && error.mayHaveArrived;
        throw error;
      });
      mayHaveArrived = true;
      isRejected = status === 401;
      if (status !== 200) throw new AnswerError(failureOfStatus(status));
      const reader = new AnswerReader(providers[id], answer);
      for await (const chunk of chunks) {
        reader.push(chunk);
        const events = answer.take();
        if (events.length > 0) yield framesOf(events);
        if (answer.isComplete) break;
      }
      reader.end();
      outcome = 'answered';
      yield framesOf(answer.end());
    } catch (error) {
      const failure = ended.aborted ? 'ended' : stopping.aborted ? 'stopping' : answerFailureOf(error);
      outcome = gone.aborted ? 'left' : failure;
      yield framesOf(answer.fail(failure));
    } finally {
      leave.abort();
      onEnd({ mayHaveArrived, isRejected, ...answer.used });
      this.#options.ended?.(id, outcome);
    }
  }

  /** This is no `async` function, because that would keep the request in memory until the provider answers. */
  #open(request: AnswerRequest, signal: AbortSignal): Promise<OutboundStream> {
    const { provider: id, model } = request;
    const access = this.#accessFor(request);
    // The settings of this node may lack the provider, or the pairing may have no token. No provider has received the request.
    if (access === undefined) throw new AnswerError('unavailable');
    const provider = providers[id];
    const chat = request.chatRequest.take();
    const { path, body } = provider.request(chat, model, samplingOf(chat, request), access);
    return this.#options.http.open({
      destination: 'fixed',
      method: 'POST',
      url: access.baseUrl + path,
      body: JSON.stringify(body),
      headers: headersOf(provider, access),
      timeoutMs: answerMs,
      idleTimeoutMs: idleMs,
      answerBytesMax,
      signal,
    });
  }

  #accessFor({ provider, accessToken: key }: AnswerRequest): ProviderAccess | undefined {
    const access = this.#options.providers.get(provider);
    if (provider !== 'subscription' || access === undefined) return access;
    return key === undefined ? undefined : { ...access, key };
  }

  /** Undefined: it takes longer. */
  #within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.schedule(ms, () => resolve(undefined));
      work.then(resolve, reject).finally(cancel);
    });
  }
}

const headersOf = (provider: Provider, access: ProviderAccess): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  ...provider.headers(access),
});

/** Counts the outcomes of answers by provider and class, without any content. */
export function countAnswers(registry: Registry): NonNullable<AssistantOptions['ended']> {
  const answers = meterOf(registry).counter(
    'scriptorium_assistant_answers_total',
    'Answers of the assistant that this process has passed on, by provider and what came of them. `refused`: the provider does not accept the operator’s key; `left`: the client has gone',
    ['provider', 'outcome'],
  );
  return (provider, outcome) => answers.inc({ provider, outcome });
}
