/** Facts that the members of the simulated vaults share without the server. */
export interface Invite {
  readonly vault: string;
  readonly recipient: string;
  readonly uuid: string;
}

export class SharedFacts {
  readonly #users = new Map<string, string>();
  readonly vaults: string[] = [];
  readonly invites: Invite[] = [];
  readonly accepted: Invite[] = [];
  /** The items of all users. */
  readonly items: string[] = [];

  /** An account has one uuid, whichever device reports it. */
  isUser(name: string, userUuid: string): void {
    this.#users.set(name, userUuid);
  }

  others(userUuid: string): readonly string[] {
    return [...this.#users.values()].filter((other) => other !== userUuid);
  }
}
