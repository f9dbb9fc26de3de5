/**
 * A job that was started and neither stopped nor started again completes exactly once. No job begins before its start is durable,
 * and none takes a step for a run that is over. Its row goes with the last step.
 */
import type { Address } from '../../../runtime/address.ts';
import { decode } from '../../../runtime/store/encoding.ts';
import type { Commit } from '../../../runtime/store/store.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

interface StartedJob {
  readonly self: Address;
  readonly to: string;
}

export class JobChecker implements Checker {
  readonly name = 'jobs';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #begun = new Map<string, StartedJob>();
  readonly #seen = new Map<string, number>();

  constructor(report: Report, durable: Durable) {
    this.#report = report;
    this.#durable = durable;
  }

  began(self: Address, { op, to }: { readonly op: string; readonly to: string }): void {
    this.#begun.set(op, { self, to });
    if (!this.#journal(self.id).includes(op)) this.#report(`${op} at ${self.id} began before its start`);
  }

  committed({ address }: Commit): void {
    if (address.kind !== 'counter') return;
    const journal = this.#journal(address.id);
    const fresh = journal.slice(this.#seen.get(address.id) ?? 0);
    this.#seen.set(address.id, journal.length);
    for (const entry of fresh) this.#check(entry, address.id);
  }

  #check(entry: string, id: string): void {
    if (entry.startsWith('stale:')) this.#report(`${entry} at ${id}: a step of a run that is over`);
    if (!entry.startsWith('finished:')) return;
    const op = entry.slice('finished:'.length);
    if (this.#rows(id).includes(op)) this.#report(`${op} at ${id} is done and its row is still there`);
  }

  /** The calls whose jobs have a row at this counter. */
  #rows(id: string): readonly string[] {
    return [...this.#durable.rows('timer')]
      .filter((row) => row['id'] === id && String(row['name']).startsWith('$job.'))
      .map((row) => (decode(row['payload'] as Buffer, 1) as { payload: { op: string } }).payload.op);
  }

  atRest(): void {
    for (const id of this.#seen.keys()) {
      const left = this.#durable.slice<Record<string, unknown>>({ kind: 'counter', id }, 'slow-jobs') ?? {};
      for (const name of Object.keys(left)) this.#report(`job ${name} of ${id} never came to its end`);
    }
    for (const [op, { self, to }] of this.#begun) {
      if (!this.#journal(self.id).includes(`finished:${op}`)) continue;
      const effects = this.#journal(to).filter((entry) => entry === `${op}.called`).length;
      if (effects !== 1) this.#report(`what job ${op} asked of ${to} took effect ${effects} times`);
    }
  }

  #journal(id: string): readonly string[] {
    return this.#durable.slice<readonly string[]>({ kind: 'counter', id }, 'journal') ?? [];
  }
}
