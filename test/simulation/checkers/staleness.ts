/** What was acknowledged before an answer was asked for is in that answer: nobody serves from a state gone by. */
import type { Reading } from '../counter.ts';
import type { Report } from './checker.ts';
import type { Operation } from './history.ts';

export class StalenessChecker {
  readonly name = 'staleness';
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  /**
   * `before` was acknowledged when the reading was asked for. `whole`: of every row; a shared read is bounded by the
   * head of its start and so misses a row that moved on beyond it meanwhile, as does one that begins further on.
   */
  reading(counter: string, before: readonly Operation[], whole: boolean, reading: Reading): void {
    const journal = new Set(reading.journal);
    const tallied = new Set(reading.tallies.flatMap(({ ops }) => ops.split(',')));
    for (const { op, mark } of before) {
      if (mark === 'journal' && !journal.has(op)) this.#report(`a reading of ${counter} misses ${op}`);
      if (mark === 'tally' && whole && !tallied.has(op)) {
        this.#report(`a reading of ${counter} misses the tally of ${op}`);
      }
    }
  }

  /** `acknowledged` is the greatest position any client of the user had been given when the sync was asked for. */
  synced(user: string, acknowledged: number, position: number): void {
    if (position < acknowledged) {
      this.#report(`a sync of ${user} ends at ${position}, ${acknowledged} was acknowledged before`);
    }
  }

  /** The session was ended, and its end acknowledged, before these credentials were used. */
  endedSessionServed(user: string): void {
    this.#report(`an ended session of ${user} was served`);
  }
}
