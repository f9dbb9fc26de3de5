/** An issued token pair works, or can be refreshed, until somebody ends its session. */
import type { Report } from './checker.ts';

export class SessionChecker {
  readonly name = 'sessions';
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  /** The server refused a signed-in call with the newest pair. `expired` is right while the pair is in grace. */
  refused(device: string, reason: string): void {
    if (reason !== 'expired') this.#report(`${device} was refused with ${reason} though its session lives`);
  }

  refreshRefused(device: string, reason: string): void {
    this.#report(
      `${device} could not refresh (${reason}) a pair that was handed out and never replaced for long`,
    );
  }
}
