/** Reads the bytes of a provider's answer into an `AssistantAnswer`. */
import type { AssistantAnswer } from './answer.ts';
import { AnswerError } from './failure.ts';
import type { Provider } from './provider.ts';

export class AnswerReader {
  readonly #provider: Provider;
  readonly #answer: AssistantAnswer;
  readonly #lines = new Lines();
  readonly #data = new EventData();

  constructor(provider: Provider, answer: AssistantAnswer) {
    this.#provider = provider;
    this.#answer = answer;
  }

  /** @throws AnswerError */
  push(bytes: Uint8Array): void {
    for (const line of this.#lines.push(bytes)) this.#line(line);
  }

  /** Call when the provider has ended. An unfinished event is dropped, and an unfinished line counts. @throws AnswerError */
  end(): void {
    const rest = this.#lines.end();
    if (this.#provider.framing === 'lines') this.#line(rest);
  }

  #line(line: string): void {
    if (this.#answer.isComplete) return;
    const text = this.#provider.framing === 'events' ? this.#data.push(line) : line;
    if (text === undefined || text.trim() === '') return;
    this.#provider.handleMessage(text === '[DONE]' ? text : parsed(text), this.#answer);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AnswerError('broken');
  }
}

/** The longest event or line. Each stays in memory until it is whole. */
const charactersMax = 1_048_576;

/** Splits a provider's bytes into lines, wherever the chunks are cut. */
class Lines {
  readonly #decoder = new TextDecoder();
  #rest = '';

  /** The lines that are complete now, without their ends. @throws AnswerError */
  push(bytes: Uint8Array): readonly string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!text.includes('\n')) {
      this.#rest += text;
      if (this.#rest.length > charactersMax) throw new AnswerError('too-large');
      return [];
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (lines.some((line) => line.length > charactersMax)) throw new AnswerError('too-large');
    return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }

  /** The bytes after the last line's end. */
  end(): string {
    return this.#rest + this.#decoder.decode();
  }
}

/** The data of server-sent events. */
class EventData {
  #data: string[] = [];
  #characters = 0;

  /** The data of an event that this line completes. @throws AnswerError */
  push(line: string): string | undefined {
    if (line === '') return this.#take();
    if (!line.startsWith('data:')) return undefined;
    const data = line.slice(line.startsWith('data: ') ? 6 : 5);
    this.#characters += data.length;
    if (this.#characters > charactersMax) throw new AnswerError('too-large');
    this.#data.push(data);
    return undefined;
  }

  #take(): string | undefined {
    if (this.#data.length === 0) return undefined;
    const data = this.#data.join('\n');
    this.#data = [];
    this.#characters = 0;
    return data;
  }
}
