/** No timer is lost, doubled or early, and none fires after it was moved or disarmed. */
import type { Commit } from '../../../runtime/store/store.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

export class TimerChecker implements Checker {
  readonly name = 'timers';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #databaseMs: () => number;
  readonly #seen = new Map<string, number>();

  constructor(report: Report, durable: Durable, databaseMs: () => number) {
    this.#report = report;
    this.#durable = durable;
    this.#databaseMs = databaseMs;
  }

  committed({ address }: Commit): void {
    if (address.kind !== 'counter') return;
    const journal = this.#durable.slice<readonly string[]>(address, 'journal') ?? [];
    const fresh = journal.slice(this.#seen.get(address.id) ?? 0);
    this.#seen.set(address.id, journal.length);
    for (const entry of fresh) this.#check(entry, address.id);
  }

  #check(entry: string, id: string): void {
    if (entry.startsWith('stray:')) this.#report(`${entry} at ${id}: a timer fired that was not armed`);
    if (!entry.startsWith('fired:')) return;
    const dueMs = Number(entry.slice(entry.indexOf('@') + 1));
    const earlyMs = dueMs - this.#databaseMs();
    if (earlyMs > 0) this.#report(`${entry} at ${id} fired ${earlyMs} ms early`);
  }

  atRest(): void {
    for (const id of this.#seen.keys()) {
      const armed = this.#durable.slice<Record<string, unknown>>({ kind: 'counter', id }, 'alarms') ?? {};
      for (const name of Object.keys(armed)) this.#report(`timer ${name} of ${id} never fired`);
    }
  }
}
