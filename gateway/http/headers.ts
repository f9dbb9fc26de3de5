/**
 * The headers of a request. They are copied once, all of them, because the request is gone after the first await.
 * Each call into the library also costs more than keeping a header.
 */
export interface RequestHeaders {
  /**
   * Empty if there is none. If a header has several lines, the first counts; for `x-forwarded-for`, all count in
   * their order.
   */
  get(name: string): string;
}

/**
 * A proxy may add a line of its own instead of extending the client's line, which anyone could have typed. An empty
 * line never gets this far (framing.ts).
 */
const joined = 'x-forwarded-for';

export class CopiedHeaders implements RequestHeaders {
  readonly #values = new Map<string, string>();

  /** `name` in lower case. */
  add(name: string, value: string): void {
    const earlier = this.#values.get(name);
    if (earlier === undefined) this.#values.set(name, value);
    else if (name === joined) this.#values.set(name, `${earlier},${value}`);
  }

  get(name: string): string {
    return this.#values.get(name) ?? '';
  }
}
