import type { Address } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { Committer } from '../commit/committer.ts';
import type { Dependencies } from '../dependency.ts';
import type { Publisher } from '../events/publisher.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { JobChange } from '../jobs/lease.ts';
import type { Kind } from '../kind.ts';
import type { Lease } from '../ownership/lease.ts';
import type { Logger } from '../ports.ts';
import type { Random } from '../random.ts';
import type { Reader } from '../read/reader.ts';
import type { UnchangedSinceMarkers } from '../read/unchanged-since.ts';
import type { SampledLog } from '../sampled-log.ts';
import type { Semaphore } from '../semaphore.ts';
import type { Store, TellRow, TimerRow } from '../store/store.ts';
import type { AnyTable } from '../table.ts';
import type { RemovedMark } from './layers.ts';

/** What an actor takes from its host. */
export interface ActorEnvironment {
  readonly kind: Kind;
  readonly dependencies: Dependencies;
  readonly shardCount: number;
  readonly store: Store;
  /** Slots of actors that wait for the lock of their row. */
  readonly lockedRowSemaphore: Semaphore;
  readonly clock: Clock;
  readonly random: Random;
  readonly lease: Pick<Lease, 'isValid'>;
  readonly committer: Pick<Committer, 'ready'>;
  readonly reader: Pick<Reader, 'read'>;
  readonly unchangedMarkers: Pick<UnchangedSinceMarkers, 'set' | 'clear' | 'of' | 'holds'>;
  readonly publisher: Pick<Publisher, 'registrationOf' | 'maySubscribe' | 'signalled'>;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  /** Logs a few of many failures that have one cause. */
  readonly failures: SampledLog;
  /** The kind whose actors authorize by this table. */
  kindOf(membershipTable: AnyTable): string | undefined;
  /** The actor has left memory. */
  gone(actor: { readonly address: Address }): void;
  /** The stored state of the actor has a newer format than this release reads. */
  unreadable(actor: { readonly shard: number }): void;
  timersCommitted(timers: Iterable<TimerRow | RemovedMark>): void;
  jobsCommitted(address: Address, changes: readonly JobChange[]): void;
  tellsCommitted(tells: readonly TellRow[]): void;
}
