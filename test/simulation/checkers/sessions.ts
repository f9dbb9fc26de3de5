/** A token pair that was handed out works, or can be refreshed, until its session is ended by somebody. */
import type { Report } from './checker.ts';

export class SessionChecker {
  readonly name = 'sessions';
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  /** A signed-in call with the newest pair was refused. To be `expired` is right where the pair is in grace. */
  refused(device: string, reason: string): void {
    if (reason !== 'expired') this.#report(`${device} was refused with ${reason} though its session lives`);
  }

  refreshRefused(device: string, reason: string): void {
    this.#report(
      `${device} could not refresh (${reason}) a pair that was handed out and never replaced for long`,
    );
  }
}
