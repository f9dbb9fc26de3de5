/** What the members of the simulated vaults tell each other, past the server. */
export interface Invite {
  readonly vault: string;
  readonly recipient: string;
  readonly uuid: string;
}

export class Book {
  readonly #users = new Map<string, string>();
  readonly vaults: string[] = [];
  readonly invites: Invite[] = [];
  readonly accepted: Invite[] = [];
  /** Of items, whoever has made them. */
  readonly items: string[] = [];

  /** An account has one uuid, whichever device says so. */
  isUser(name: string, userUuid: string): void {
    this.#users.set(name, userUuid);
  }

  others(userUuid: string): readonly string[] {
    return [...this.#users.values()].filter((other) => other !== userUuid);
  }
}
