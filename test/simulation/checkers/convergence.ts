/** Once nothing fails any more, everything comes to rest: every call is answered, and every tell and timer is done. */
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

export class ConvergenceChecker implements Checker {
  readonly name = 'convergence';
  readonly #report: Report;
  readonly #durable: Durable;

  constructor(report: Report, durable: Durable) {
    this.#report = report;
    this.#durable = durable;
  }

  /** Pending work of the kinds for which the simulation waits. */
  pending(): string | undefined {
    for (const tell of this.#durable.rows('outbox')) return `tell ${tell['name']} to ${tell['target_id']}`;
    for (const timer of this.#durable.rows('timer')) {
      if (timer['kind'] === 'counter') return `timer ${timer['name']} of ${timer['id']}`;
    }
    return undefined;
  }

  stuck(what: string): void {
    this.#report(`did not come to rest: ${what}`);
  }
}
