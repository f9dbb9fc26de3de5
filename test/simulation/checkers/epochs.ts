/** Per actor, epochs never fall, and nothing commits under one after a greater one was activated. */
import { type Address, addressKey } from '../../../runtime/address.ts';
import type { Commit } from '../../../runtime/store/store.ts';
import type { Checker, Report } from './checker.ts';

export class EpochChecker implements Checker {
  readonly name = 'epochs';
  readonly #report: Report;
  readonly #greatest = new Map<string, number>();
  readonly #versions = new Map<string, number>();

  constructor(report: Report) {
    this.#report = report;
  }

  activated(address: Address, epoch: number): void {
    this.#rises(address, epoch, 'activated');
  }

  committed({ address, epoch, version }: Commit): void {
    this.#rises(address, epoch, 'committed');
    const key = addressKey(address);
    const before = this.#versions.get(key) ?? -1;
    if (version <= before) this.#report(`${key} committed twice on version ${version}`);
    this.#versions.set(key, version);
  }

  #rises(address: Address, epoch: number, what: string): void {
    const key = addressKey(address);
    const greatest = this.#greatest.get(key) ?? 0;
    if (epoch < greatest) this.#report(`${key} ${what} under epoch ${epoch} after ${greatest}`);
    this.#greatest.set(key, Math.max(epoch, greatest));
  }
}
