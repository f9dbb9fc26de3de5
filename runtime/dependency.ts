/**
 * What a kind needs from outside: settings, keys, hashers, clients of other services. A kind names its dependencies
 * (`uses`), the process that starts the host provides them, and its turns and workflows get at them by `use`. A kind
 * stays a constant that way, and nothing has to be handed down through its functions.
 */
export interface Dependency<T> {
  /** For the error when nobody provides it. */
  readonly description: string;
  /** Never set: carries the type. */
  readonly type?: T;
}

export function dependency<T>(description: string): Dependency<T> {
  return { description };
}

export interface Provided {
  readonly dependency: Dependency<unknown>;
  readonly value: unknown;
}

export function provide<T>(dependency: Dependency<T>, value: T): Provided {
  return { dependency, value };
}

/** The dependencies of one kind, as they were provided. */
export class Dependencies {
  static readonly none = new Dependencies('nobody', [], []);
  readonly #user: string;
  readonly #values: ReadonlyMap<Dependency<unknown>, unknown>;

  /** @throws when one of those it uses is not provided */
  constructor(user: string, uses: readonly Dependency<unknown>[], provided: readonly Provided[]) {
    const values = new Map(provided.map(({ dependency, value }) => [dependency, value]));
    for (const used of uses) {
      if (!values.has(used)) throw new Error(`${user} uses ${used.description}, which nobody provides`);
    }
    this.#user = user;
    this.#values = new Map(uses.map((used) => [used, values.get(used)]));
  }

  /** @throws when it is not among those that the kind uses */
  use<T>(dependency: Dependency<T>): T {
    const value = this.#values.get(dependency);
    if (value !== undefined || this.#values.has(dependency)) return value as T;
    throw new Error(`${this.#user} does not declare that it uses ${dependency.description}`);
  }
}
