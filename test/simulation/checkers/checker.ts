/**
 * The events that a checker may watch. It knows the promises, the database and the output of the hosts, and nothing
 * of the implementation.
 */
import type { Address } from '../../../runtime/address.ts';
import type { Commit, TellRow } from '../../../runtime/store/store.ts';
import type { AskCall } from '../../../runtime/transport/transport.ts';

export interface Checker {
  readonly name: string;
  activated?(address: Address, epoch: number): void;
  /** Right after the commit became durable. */
  committed?(commit: Commit): void;
  /** A reply leaves its host, which is a run of this process. */
  replied?(call: AskCall, reply: unknown, process: { readonly name: string }): void;
  /** A wake-up for a tell leaves its sender's host. */
  woke?(tell: TellRow): void;
  registered?(incarnation: string): void;
  /** A host received shards, and shards were given up. */
  claimed?(incarnation: string, shards: readonly number[]): void;
  freed?(shards: readonly number[]): void;
  /** Everything has come to rest. */
  atRest?(): void;
}

/** Never thrown: a checker reports, and the simulation stops. */
export type Report = (message: string) => void;
export type ReportOf = (checker: string) => Report;
