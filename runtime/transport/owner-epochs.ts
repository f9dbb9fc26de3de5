/**
 * The epochs of the shards' owners, as one process knows them. Each call to another process names the epoch that it is for.
 *
 * A call may reach several processes: a broker may still know a former listener, and holds a copy for it while its network is
 * slow. If that process has become the owner by then, it would run a call that the owner before it has refused already. The
 * caller was told that nothing had happened. So an owner refuses a call for any epoch but its own, and tells its epoch.
 *
 * The epoch stands in whatever comes first of a call, and is compared before anything else. So a process that has too much to
 * do, or that cannot fetch a large call, never refuses in the name of another owner.
 *
 * A call of epoch 0 is for no owner. The first call to a shard is one, and is sent again with the epoch of the refusal. Later
 * epochs come with the hints of claims.
 */
import { MovedError } from '../errors.ts';

const noOwner = 0;

/** A call of an earlier build names no epoch, and passes. @throws MovedError: the call is for another claim */
export function assertSameClaim(own: number, named: number | undefined): void {
  if (named === undefined || named === own) return;
  throw new MovedError('this host owns the shard by another claim', { epoch: own });
}

export class OwnerEpochs {
  readonly #epochs = new Map<number, number>();

  of(shard: number): number {
    return this.#epochs.get(shard) ?? noOwner;
  }

  /** Epochs of a shard only grow, whichever order news of them comes in. */
  claimed(shards: readonly number[], epoch: number | undefined): void {
    if (epoch === undefined) return;
    for (const shard of shards) if (epoch > this.of(shard)) this.#epochs.set(shard, epoch);
  }

  /**
   * Takes the epoch from the refusal of a call. True if the call was for no owner and can be sent again at once. A call for an
   * earlier owner may have taken effect there, so that is left to the part that repeats calls.
   */
  refused(shard: number, epoch: number, error: unknown): boolean {
    if (!(error instanceof MovedError) || error.epoch === undefined) return false;
    this.claimed([shard], error.epoch);
    return epoch === noOwner && this.of(shard) !== noOwner;
  }
}
