/**
 * One answer of a model, assembled from the provider's events (docs/protocol/assistant.md, "The stream").
 *
 * Invariants:
 * - A tool call goes out once and whole, when the answer or the call is complete. If the answer was cut off by its length, its
 *   last call may be incomplete, and is then dropped. Providers report the cut only after they have ended that call.
 * - There is one `finish`, it is the last event, and usage comes before it. An incomplete answer finishes with
 *   `error`.
 * - Tools and their arguments are bounded, whatever the provider sends.
 */
import type { AssistantEvent, StopReason, Usage } from './events.ts';
import { AnswerError, type AnswerFailure, failureEvents } from './failure.ts';

const toolCallsMax = 128;
/** The most characters of all arguments of an answer, and of the names and ids. */
const toolCharactersMax = 1_048_576;

interface ToolCall {
  id: string;
  name: string;
  json: string;
}

export class AssistantAnswer {
  readonly #idPrefix: string;
  readonly #tools = new Map<number, ToolCall>();
  /** A call that has ended and whose arguments do not parse. If anything comes after it, the answer was not cut off in it. */
  #doubtful: ToolCall | undefined;
  #events: AssistantEvent[] = [];
  #toolCalls = 0;
  #emittedCalls = 0;
  #toolCharacters = 0;
  #usage: Usage | undefined;
  #stopReason: StopReason | undefined;
  #isComplete = false;

  /** `idPrefix` begins the ids of calls to which the provider gave none. */
  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix;
  }

  /** The tokens used, as far as the provider has reported them. */
  get used(): Pick<Usage, 'promptTokens' | 'completionTokens'> {
    const { promptTokens, completionTokens } = this.#usage ?? {};
    return {
      ...(promptTokens !== undefined && { promptTokens }),
      ...(completionTokens !== undefined && { completionTokens }),
    };
  }

  /** No more events will come. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  text(delta: string | undefined): void {
    if (delta === undefined || delta === '') return;
    this.#emitDoubtful();
    this.#events.push({ kind: 'text-delta', delta });
  }

  /** More of the call at this index of the answer. */
  tool(index: number, { id = '', name = '', json = '' }: Partial<ToolCall>): void {
    const call = this.#tools.get(index) ?? this.#begin(index);
    this.#toolCharacters += id.length + name.length + json.length;
    if (this.#toolCharacters > toolCharactersMax) throw new AnswerError('too-large');
    if (id !== '') call.id = id;
    if (name !== '') call.name = name;
    call.json += json;
  }

  /** The call at this index is complete. */
  toolEnds(index: number): void {
    const call = this.#tools.get(index);
    if (call === undefined) return;
    this.#tools.delete(index);
    this.#emitDoubtful();
    const args = argsOf(call.json);
    if (args === undefined) this.#doubtful = call;
    else this.#emitCall(call, args);
  }

  usage(promptTokens: number | undefined, completionTokens: number | undefined): void {
    const prompt = promptTokens ?? this.#usage?.promptTokens;
    const completion = completionTokens ?? this.#usage?.completionTokens;
    if (prompt === undefined && completion === undefined) return;
    this.#usage = {
      ...(prompt !== undefined && { promptTokens: prompt }),
      ...(completion !== undefined && { completionTokens: completion }),
      ...(prompt !== undefined && completion !== undefined && { totalTokens: prompt + completion }),
    };
  }

  stop(reason: StopReason): void {
    this.#stopReason = reason;
  }

  complete(): void {
    this.#isComplete = true;
  }

  /** The events since the last call of this method. */
  take(): readonly AssistantEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** The last events. @throws AnswerError if the provider did not say that the model stopped: the answer was cut off */
  end(): readonly AssistantEvent[] {
    if (!this.#isComplete && this.#stopReason === undefined) throw new AnswerError('broken');
    for (const index of [...this.#tools.keys()]) this.toolEnds(index);
    if (this.#stopReason !== 'max_tokens') this.#emitDoubtful();
    const stopReason = this.#emittedCalls > 0 ? 'tool_use' : (this.#stopReason ?? 'end_turn');
    const finish: AssistantEvent = { kind: 'finish', stopReason };
    return [...this.take(), ...this.#usageEvents(), finish];
  }

  /** The last events of an answer that cannot be completed. */
  fail(failure: AnswerFailure): readonly AssistantEvent[] {
    return [...this.take(), ...this.#usageEvents(), ...failureEvents(failure)];
  }

  /** Clients run tools with whatever arguments arrive, so unreadable arguments count as none. */
  #emitDoubtful(): void {
    if (this.#doubtful !== undefined) this.#emitCall(this.#doubtful, {});
    this.#doubtful = undefined;
  }

  #emitCall({ id, name }: ToolCall, args: unknown): void {
    this.#emittedCalls += 1;
    this.#events.push({ kind: 'tool-call', id, name, args });
  }

  #usageEvents(): readonly AssistantEvent[] {
    return this.#usage === undefined ? [] : [{ kind: 'usage', ...this.#usage }];
  }

  #begin(index: number): ToolCall {
    this.#emitDoubtful();
    this.#toolCalls += 1;
    if (this.#toolCalls > toolCallsMax) throw new AnswerError('too-large');
    const call = { id: `${this.#idPrefix}-${this.#toolCalls}`, name: '', json: '' };
    this.#tools.set(index, call);
    return call;
  }
}

/** Undefined: the arguments do not parse. */
function argsOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
