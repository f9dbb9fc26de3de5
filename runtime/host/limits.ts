/** Every bound of the runtime, with the reason for its default. A caller that hits one gets an error that says so. */
export interface Limits {
  /** Messages waiting at one actor, for their turn or at the gate. More are answered "overloaded". */
  readonly mailboxMax: number;
  /** Actors in memory on this host. More are answered "overloaded" unless an idle one can be passivated. */
  readonly actorsMax: number;
  /** Estimated bytes of all actors in memory. Beyond it idle actors leave, the longest idle first. */
  readonly actorBytesMax: number;
  /** Workflows in flight on this host. */
  readonly workflowsMax: number;
  /** Actors activating at once, so that a restart does not flood the database. */
  readonly activationsMax: number;
  /** An actor without work for this long leaves memory. */
  readonly idleMs: number;
  /** Bytes that a pending commit may hold before its actor stops taking turns. */
  readonly pendingBytesMax: number;
  /** Bytes of rows that an actor keeps after they are durable, to save reading them again. */
  readonly cachedRowBytesMax: number;
  readonly batchActorsMax: number;
  readonly batchBytesMax: number;
  /** Commit statements in flight at once. */
  readonly commitsInFlightMax: number;
  /**
   * Further statements in flight, for commits that were stuck or that have to be separated from others. With only one, stuck
   * commits would hold back the rest.
   */
  readonly quarantinedCommitsInFlightMax: number;
  /** Batches of reads in flight at once. With only one, a slow batch would hold back all others. */
  readonly readsInFlightMax: number;
  /** The bound of one batch in rows, and in bytes by the budgets of its ranges. A larger read goes unbatched. */
  readonly readBatchRowsMax: number;
  readonly readBatchBytesMax: number;
  /** Unanswered shared reads of one actor. More are answered "overloaded". */
  readonly sharedReadsOfActorMax: number;
  /** Reads that wait on this host. More are answered "overloaded". */
  readonly readsWaitingMax: number;
  /** When the database fails a read, readers that have waited this long fail with it. */
  readonly readWaitMaxMs: number;
  readonly defaultDeadlineMs: number;
  /** How long the reply of a recorded call is kept. */
  readonly recordedCallMs: number;
  /**
   * How long the row of an actor without state stays. The row is a fence against late statements of former owners. A statement
   * is given up after ten seconds, and its connection after minutes.
   */
  readonly endedActorMs: number;
  /**
   * Recorded calls of one actor whose repeats may still come. More are answered "overloaded". The largest known need is an account
   * that publishes all its to-dos at once, which takes 10,000 calls.
   */
  readonly recordedCallsOfActorMax: number;
  /** Pause between two searches for rows that may go. */
  readonly housekeepingMs: number;
  /** How long a node without a lease stays in the list that operators see. */
  readonly goneNodeMs: number;
  /** Timers and tells in delivery to actors at once. */
  readonly deliveriesMax: number;
  /** Of these, the most to one actor, so that an actor that is stuck does not hold up the others. */
  readonly deliveriesOfActorMax: number;
  /** A timer or tell whose turn keeps throwing is dead after this many attempts. */
  readonly attemptsMax: number;
  /** Runs of one declared job on this host at once. Each job has its own count. */
  readonly jobsMax: number;
  /**
   * Runs of one declared job that hold their lease here and wait for a free slot. Others are tried again when their lease lapses.
   */
  readonly jobsWaitingMax: number;
  /** A job whose host has died is run again after this time. A live host renews the lease three times before it ends. */
  readonly jobLeaseMs: number;
  /** Pause between two sweeps of the outbox and of due timers. */
  readonly sweepMs: number;
}

export const defaultLimits: Limits = {
  mailboxMax: 1_000,
  actorsMax: 50_000,
  actorBytesMax: 256 * 1_024 * 1_024,
  workflowsMax: 1_000,
  activationsMax: 64,
  idleMs: 300_000,
  pendingBytesMax: 1_000_000,
  cachedRowBytesMax: 32 * 1_024,
  batchActorsMax: 64,
  batchBytesMax: 1_000_000,
  commitsInFlightMax: 2,
  quarantinedCommitsInFlightMax: 2,
  readsInFlightMax: 3,
  readBatchRowsMax: 256,
  readBatchBytesMax: 16 * 1_024 * 1_024,
  sharedReadsOfActorMax: 64,
  readsWaitingMax: 10_000,
  readWaitMaxMs: 5_000,
  defaultDeadlineMs: 25_000,
  recordedCallMs: 600_000,
  recordedCallsOfActorMax: 20_000,
  endedActorMs: 86_400_000,
  goneNodeMs: 604_800_000,
  housekeepingMs: 60_000,
  deliveriesMax: 64,
  deliveriesOfActorMax: 8,
  attemptsMax: 10,
  jobsMax: 100,
  jobsWaitingMax: 1_000,
  jobLeaseMs: 30_000,
  sweepMs: 3_000,
};
