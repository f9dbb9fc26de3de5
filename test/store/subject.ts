/**
 * The subject of the contract: a store, and the few handles with which a test holds a call halfway. On PostgreSQL
 * these are a second connection and its locks. The model has no halfway, so there a call in flight has already been
 * applied and only its answer is still to come.
 */
import type { Address } from '../../runtime/address.ts';
import type { Commit, NodeRow, Store } from '../../runtime/store/store.ts';

export interface Subject {
  readonly store: Store;
  /** The same database through another set of connections. */
  readonly other: Store;
  /** The same database through connections whose commits wait for locks only a moment. */
  readonly impatient: Store;
  /** Somebody holds an actor's row locked until `finish`. */
  lockHeld(address: Address): Promise<Flight>;
  commitInFlight(commit: Commit): Promise<Flight>;
  barrierInFlight(address: Address, epoch: number): Promise<Flight>;
  claimInFlight(nodeId: string, incarnation: string, shards: readonly number[]): Promise<Flight>;
  /**
   * Registers through `other`, up to the point where its start has its number and the registration itself has yet to
   * run.
   */
  registrationInFlight(node: NodeRow, leaseMs: number): Promise<Flight>;
  /** Resolves once a statement waits for a lock or, if nothing can wait, once `pending` has ended. */
  untilBlocked(pending: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export interface Flight {
  /** Lets the call end; rejects if it does. */
  finish(): Promise<unknown>;
}

/** One clause of the contract: throws when the subject breaks it. */
export interface Clause {
  readonly name: string;
  readonly check: (subject: Subject) => Promise<void>;
}
