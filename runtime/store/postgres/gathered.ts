/**
 * Answers many askers by one statement. As long as few ask, each has a statement of their own at once; those who come while
 * several statements are under way are gathered for the next one. A statement begins after all of its askers have come, so
 * that each sees whatever was committed before they asked.
 *
 * Whom the common statement does not answer, or all of them where it fails, are asked for one by one.
 */
export interface GatheredOptions<Asked, Answer> {
  /** Statements under way. */
  readonly atOnceMax: number;
  readonly batchMax: number;
  readonly one: (asked: Asked) => Promise<Answer>;
  /** The answers by their positions in the list; what is missing is asked for by itself. */
  readonly many: (asked: readonly Asked[]) => Promise<ReadonlyMap<number, Answer>>;
}

interface Asker<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
}

export class Gathered<Asked, Answer> {
  readonly #options: GatheredOptions<Asked, Answer>;
  readonly #waiting: Asker<Asked, Answer>[] = [];
  #running = 0;

  constructor(options: GatheredOptions<Asked, Answer>) {
    this.#options = options;
  }

  ask(asked: Asked): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push({ asked, resolve });
      this.#startNext();
    });
  }

  #startNext(): void {
    const { atOnceMax, batchMax } = this.#options;
    while (this.#running < atOnceMax && this.#waiting.length > 0) {
      this.#running += 1;
      void this.#run(this.#waiting.splice(0, batchMax)).finally(() => {
        this.#running -= 1;
        this.#startNext();
      });
    }
  }

  async #run(askers: readonly Asker<Asked, Answer>[]): Promise<void> {
    const { one, many } = this.#options;
    const [only] = askers;
    if (askers.length === 1 && only !== undefined) {
      const answer = one(only.asked);
      only.resolve(answer);
      await answer.catch(() => {});
      return;
    }
    const answers = await many(askers.map(({ asked }) => asked)).catch(() => new Map<number, Answer>());
    // Nobody else waits for these: they may be waiting for a lock.
    for (const [index, { asked, resolve }] of askers.entries()) resolve(answers.get(index) ?? one(asked));
  }
}
