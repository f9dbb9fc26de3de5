/** Reads the bytes of a provider's answer into an `Answer`. */
import type { Answer } from './answer.ts';
import { AnswerError } from './failure.ts';
import { EventData, Lines } from './lines.ts';
import type { Provider } from './provider.ts';

export class AnswerReader {
  readonly #provider: Provider;
  readonly #answer: Answer;
  readonly #lines = new Lines();
  readonly #data = new EventData();

  constructor(provider: Provider, answer: Answer) {
    this.#provider = provider;
    this.#answer = answer;
  }

  /** @throws AnswerError */
  push(bytes: Uint8Array): void {
    for (const line of this.#lines.push(bytes)) this.#line(line);
  }

  /** Call when the provider has ended. An event that has not ended does not count; a line does. @throws AnswerError */
  end(): void {
    const rest = this.#lines.end();
    if (this.#provider.framing === 'lines') this.#line(rest);
  }

  #line(line: string): void {
    if (this.#answer.isComplete) return;
    const said = this.#provider.framing === 'events' ? this.#data.push(line) : line;
    if (said === undefined || said.trim() === '') return;
    this.#provider.read(said === '[DONE]' ? said : parsed(said), this.#answer);
  }
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    throw new AnswerError('broken');
  }
}
