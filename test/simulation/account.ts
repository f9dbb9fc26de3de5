/** One simulated account: the state that its devices share, and their findings about it. */
import type { Report } from './checkers/checker.ts';

export class Account {
  readonly email: string;
  readonly password: string;
  /** Items that several devices make at the same moment under one uuid. */
  readonly uuids: readonly string[];
  /** The greatest position that a device received in an answer. */
  position = 0;
  readonly #report: Report;
  #userUuid: string | undefined;

  constructor(email: string, uuids: readonly string[], report: Report) {
    this.email = email;
    this.password = `password of ${email}`;
    this.uuids = uuids;
    this.#report = report;
  }

  signedInAs(userUuid: string): void {
    this.#userUuid ??= userUuid;
    if (this.#userUuid !== userUuid) this.#report(`${this.email} is two accounts`);
  }

  reached(position: number): void {
    this.position = Math.max(this.position, position);
  }
}
