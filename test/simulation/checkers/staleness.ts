/**
 * An answer contains everything that was acknowledged before its request: nobody serves an outdated state. The check
 * happens when the answer leaves its host, so that it includes answers for which nobody waits any more.
 */
import type { AskCall } from '../../../runtime/transport/transport.ts';
import type { Reading } from '../counter.ts';
import type { Checker, Report } from './checker.ts';
import type { Call } from './history.ts';
import type { SyncAnswer } from './replica.ts';
import { positionOf } from './sync-token.ts';

type Check = (reply: unknown) => void;

export class StalenessChecker implements Checker {
  readonly name = 'staleness';
  readonly #report: Report;
  /** Keyed by call id: the required content of its answer, whichever of its repeats that answers. */
  readonly #expected = new Map<string, Check>();

  constructor(report: Report) {
    this.#report = report;
  }

  /**
   * A client asks for a reading of a counter, at which `before` was acknowledged. `whole`: of every row. A shared
   * read is bounded by the head at its start, and so misses a row that moved beyond it meanwhile.
   */
  asksReading(callId: string, counter: string, before: readonly Call[], whole: boolean): void {
    this.#expected.set(callId, (reply) => this.#reading(counter, before, whole, reply as Reading));
  }

  /** A client asks for a sync without items. `acknowledged` is the greatest position that a client received before. */
  asksSync(callId: string, user: string, acknowledged: number): void {
    this.#expected.set(callId, (reply) => {
      const answer = (reply as { ok?: SyncAnswer }).ok;
      if (answer === undefined || answer.cursor_token !== undefined) return;
      const { position } = positionOf(answer.sync_token);
      if (position >= acknowledged) return;
      this.#report(`a sync of ${user} ends at ${position}, ${acknowledged} was acknowledged before`);
    });
  }

  /** A call with credentials of a session whose end was acknowledged. */
  asksAfterEnd(callId: string, user: string): void {
    this.#expected.set(callId, (reply) => {
      if ('ok' in (reply as object)) this.#report(`an ended session of ${user} was served`);
    });
  }

  replied(call: AskCall, reply: unknown): void {
    this.#expected.get(call.callId)?.(reply);
  }

  #reading(counter: string, before: readonly Call[], whole: boolean, reading: Reading): void {
    const journal = new Set(reading.journal);
    const tallied = new Set(reading.tallies.flatMap(({ ops }) => ops.split(',')));
    for (const { op, recordedIn } of before) {
      if (recordedIn === 'journal' && !journal.has(op)) this.#report(`a reading of ${counter} misses ${op}`);
      if (recordedIn === 'tally' && whole && !tallied.has(op)) {
        this.#report(`a reading of ${counter} misses the tally of ${op}`);
      }
    }
  }
}
