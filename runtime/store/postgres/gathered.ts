/**
 * Answers many askers by one statement. A few askers at once have a statement each, immediately. Askers that come while several
 * statements run are gathered for the next one. A statement begins after all of its askers have come, so that each sees
 * everything that was committed before it asked.
 *
 * Askers that the common statement does not answer are served one by one. If it fails, all of them are.
 */
export interface GatheredOptions<Request, Answer> {
  /** The most statements that run at once. */
  readonly concurrencyMax: number;
  readonly batchMax: number;
  readonly one: (request: Request) => Promise<Answer>;
  /** The answers by their positions in the list. An item without an answer is asked for by itself. */
  readonly many: (requests: readonly Request[]) => Promise<ReadonlyMap<number, Answer>>;
}

interface Asker<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
}

export class GatheredStatements<Request, Answer> {
  readonly #options: GatheredOptions<Request, Answer>;
  readonly #waiting: Asker<Request, Answer>[] = [];
  #running = 0;

  constructor(options: GatheredOptions<Request, Answer>) {
    this.#options = options;
  }

  ask(request: Request): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push({ request, resolve });
      this.#startNext();
    });
  }

  #startNext(): void {
    const { concurrencyMax, batchMax } = this.#options;
    while (this.#running < concurrencyMax && this.#waiting.length > 0) {
      this.#running += 1;
      void this.#run(this.#waiting.splice(0, batchMax)).finally(() => {
        this.#running -= 1;
        this.#startNext();
      });
    }
  }

  async #run(askers: readonly Asker<Request, Answer>[]): Promise<void> {
    const { one, many } = this.#options;
    const [only] = askers;
    if (askers.length === 1 && only !== undefined) {
      const answer = one(only.request);
      only.resolve(answer);
      await answer.catch(() => {});
      return;
    }
    const answers = await many(askers.map(({ request }) => request)).catch(() => new Map<number, Answer>());
    // Other askers do not wait for these, which may be waiting for a lock.
    for (const [index, { request, resolve }] of askers.entries()) resolve(answers.get(index) ?? one(request));
  }
}
