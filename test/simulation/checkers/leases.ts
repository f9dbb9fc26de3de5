/**
 * No shard is freed or given to another while a host serves it and may rely on its lease. Nobody answers from memory
 * after their lease is over.
 */
import type { AskCall } from '../../../runtime/transport/transport.ts';
import type { Checker, Report } from './checker.ts';

interface Serving {
  readonly process: { readonly name: string };
  readonly node: { readonly hasLease: boolean } | undefined;
  readonly endpoint: { readonly routed: ReadonlySet<number> };
  readonly store: { readonly incarnation: string };
}

export class LeaseChecker implements Checker {
  readonly name = 'leases';
  readonly #report: Report;
  readonly #runs: () => readonly Serving[];

  constructor(report: Report, runs: () => readonly Serving[]) {
    this.#report = report;
    this.#runs = runs;
  }

  claimed(incarnation: string, shards: readonly number[]): void {
    for (const { process, store, endpoint } of this.#holders()) {
      if (store.incarnation === incarnation) continue;
      const served = shards.find((shard) => endpoint.routed.has(shard));
      if (served !== undefined) this.#report(`shard ${served} was claimed while ${process.name} serves it`);
    }
  }

  /** Only a shared read: the answer of a turn is durable, and the fence covers the rest. */
  replied({ command }: AskCall, _reply: unknown, process: Serving['process']): void {
    if (command !== 'peek') return;
    const run = this.#runs().find((each) => each.process === process);
    if (run?.node?.hasLease === false) this.#report(`${process.name} answered after its lease was over`);
  }

  freed(shards: readonly number[]): void {
    for (const { process, endpoint } of this.#holders()) {
      const served = shards.find((shard) => endpoint.routed.has(shard));
      if (served !== undefined) this.#report(`shard ${served} was freed while ${process.name} serves it`);
    }
  }

  #holders(): readonly Serving[] {
    return this.#runs().filter(({ node }) => node?.hasLease === true);
  }
}
