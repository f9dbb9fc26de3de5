/** A token pair that was handed out works, or can be refreshed, until its session is ended by somebody. */
import type { Report } from './checker.ts';

export class SessionChecker {
  readonly name = 'sessions';
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  /** A signed-in call with the newest pair was refused. 498 is right where the pair is in grace. */
  refused(device: string, status: number): void {
    if (status !== 498) this.#report(`${device} was refused with ${status} though its session lives`);
  }

  refreshRefused(device: string, status: number): void {
    this.#report(
      `${device} could not refresh (${status}) a pair that was handed out and never replaced for long`,
    );
  }
}
