/** What the runtime counts and times. Labels are kinds and commands, never ids. */
export interface RuntimeMetrics {
  turn(what: string, outcome: 'ok' | 'error'): void;
  commit(
    outcome: 'committed' | 'fenced' | 'rejected' | 'conflict' | 'unavailable' | 'unknown' | 'defect',
  ): void;
  batch(commits: number, durationMs: number): void;
  /** A batch with this many reads. */
  readBatch(reads: number, durationMs: number): void;
  overloaded(what: string): void;
  activated(outcome: 'active' | 'absent' | 'fenced' | 'failed'): void;
  /** Shards taken, and shards handed over to other hosts. */
  claimed(shards: number): void;
  handedOver(shards: number): void;
  delivered(what: 'timer' | 'tell' | 'job', outcome: 'done' | 'dropped' | 'failed' | 'dead'): void;
}

export const noMetrics: RuntimeMetrics = {
  turn() {},
  commit() {},
  batch() {},
  readBatch() {},
  overloaded() {},
  activated() {},
  claimed() {},
  handedOver() {},
  delivered() {},
};
