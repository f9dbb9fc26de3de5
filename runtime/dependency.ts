/**
 * What a kind needs from outside: settings, keys, hashers, clients of other services. A kind names its dependencies (`uses`),
 * and the process that starts the host provides them. Turns and workflows get them by `use`. So a kind stays a constant, and
 * its functions need not pass them down.
 */
export interface Dependency<T> {
  /** Names the dependency in the error if it is not provided. */
  readonly description: string;
  /** Never set. It only carries the type. */
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

/** The provided dependencies of one kind. */
export class Dependencies {
  static readonly none = new Dependencies('nobody', [], []);
  readonly #user: string;
  readonly #values: ReadonlyMap<Dependency<unknown>, unknown>;

  /** @throws if one of its dependencies is not provided */
  constructor(user: string, uses: readonly Dependency<unknown>[], provided: readonly Provided[]) {
    const values = new Map(provided.map(({ dependency, value }) => [dependency, value]));
    for (const used of uses) {
      if (!values.has(used)) throw new Error(`${user} uses ${used.description}, which nobody provides`);
    }
    this.#user = user;
    this.#values = new Map(uses.map((used) => [used, values.get(used)]));
  }

  /** @throws if the kind does not declare it */
  use<T>(dependency: Dependency<T>): T {
    const value = this.#values.get(dependency);
    if (value !== undefined || this.#values.has(dependency)) return value as T;
    throw new Error(`${this.#user} does not declare that it uses ${dependency.description}`);
  }
}
