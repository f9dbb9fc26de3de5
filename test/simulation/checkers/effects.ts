/**
 * Every acknowledged call on a counter took effect once, every call reported as failed never, and every other call at
 * most once. Whatever it sent by a tell arrived exactly once, so that the balances sum up to nothing.
 */
import type { Commit } from '../../../runtime/store/store.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';
import type { Call, History } from './history.ts';

export class EffectChecker implements Checker {
  readonly name = 'effects';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #history: History;

  constructor(report: Report, durable: Durable, history: History) {
    this.#report = report;
    this.#durable = durable;
    this.#history = history;
  }

  committed({ address }: Commit): void {
    if (address.kind !== 'counter') return;
    const entries = this.#journal(address.id);
    if (new Set(entries).size === entries.length) return;
    const twice = entries.find((entry, index) => entries.indexOf(entry) !== index);
    this.#report(`${twice} took effect twice at ${address.id}`);
  }

  atRest(): void {
    for (const call of this.#history.calls) this.#check(call);
    this.#checkBalances();
  }

  #check(call: Call): void {
    const { op, counter, fate, what, sends } = call;
    const effects = this.#effects(call);
    if (effects > 1) this.#report(`${what} ${op} took effect ${effects} times at ${counter}`);
    if (fate === 'done' && effects === 0)
      this.#report(`${what} ${op} was acknowledged at ${counter} and is lost`);
    if (fate === 'none' && effects > 0) {
      this.#report(`${what} ${op} was told to have failed at ${counter} and took effect`);
    }
    if (sends === undefined || fate === 'open') return;
    const arrived = this.#journal(sends.to).filter((entry) => entry === sends.entry).length;
    if (arrived !== effects) this.#report(`tell of ${op} took effect ${arrived} times at ${sends.to}`);
  }

  #effects({ op, counter, recordedIn }: Call): number {
    if (recordedIn === 'journal') return this.#journal(counter).filter((entry) => entry === op).length;
    let found = 0;
    for (const row of this.#durable.rows('tally')) {
      if (row['owner'] !== counter) continue;
      found += String(row['ops'])
        .split(',')
        .filter((entry) => entry === op).length;
    }
    return found;
  }

  #checkBalances(): void {
    const counters = new Set(this.#history.calls.flatMap(({ counter, sends }) => [counter, sends?.to]));
    let sum = 0;
    for (const id of counters) {
      if (id !== undefined) sum += this.#durable.slice<number>({ kind: 'counter', id }, 'balance') ?? 0;
    }
    if (sum !== 0) this.#report(`transfers left a sum of ${sum}`);
  }

  #journal(id: string): readonly string[] {
    return this.#durable.slice<readonly string[]>({ kind: 'counter', id }, 'journal') ?? [];
  }
}
