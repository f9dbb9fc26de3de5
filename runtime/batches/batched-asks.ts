/**
 * Asks of many actors in one message, the caller's side.
 *
 *     gathered --all of one shard, in one message--> its host --a reply in its position--> answered
 *                                                         \--none in its position, or none at all--> asked alone
 *
 *
 * - Asks are gathered until the code that makes them yields. The only ask of its shard goes without a batch.
 * - An ask keeps its call id and its deadline when it goes by itself: it is a repeat, as after a lost answer.
 * - A host of an earlier release refuses batches. A message may be lost. An actor may be slow or fail. All of these leave gaps,
 *   which the single asks fill, and their errors are the ones reported. Only an overloaded host is not asked again.
 * - Asks in a batch may reach their actors in any order, as messages do.
 *
 * A crash of the caller loses all of it. The answers of the host then reach no caller.
 */
import { shardOf } from '../address.ts';
import type { Clock } from '../clock.ts';
import { OverloadedError } from '../errors.ts';
import type { Retrier } from '../host/actors.ts';
import type { Random } from '../random.ts';
import { Semaphore } from '../semaphore.ts';
import type { AskCall } from '../transport/transport.ts';
import { type BatchReply, type BatchRequest, batchMax, batchReplySchema } from './batch-answers.ts';

export interface BatchedAsksOptions {
  readonly retrier: Pick<Retrier, 'ask'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly shardCount: number;
}

interface Gathered {
  readonly call: AskCall;
  readonly resolve: (answer: unknown) => void;
}

/** The bytes of the requests in one batch. A batch with its envelope has to fit one message. */
const batchBytesMax = 32 * 1_024;
/** A caller waits for a batch no longer than this, so that there is time for single asks. */
const batchMs = 2_000;
/** Single asks in flight that a batch left without a reply. */
const singleMax = 64;

export class BatchedAsks {
  readonly #options: BatchedAsksOptions;
  readonly #single = new Semaphore(singleMax);
  #gathered: Gathered[] = [];

  constructor(options: BatchedAsksOptions) {
    this.#options = options;
  }

  /** The caller bounds how many it makes at once. @throws ActorError as `Retrier.ask` does */
  ask(call: AskCall): Promise<unknown> {
    if (this.#gathered.length === 0) queueMicrotask(() => this.#send());
    return new Promise((resolve) => this.#gathered.push({ call, resolve }));
  }

  #send(): void {
    const gathered = this.#gathered;
    this.#gathered = [];
    for (const batch of batchesOf(gathered, this.#options.shardCount)) void this.#askTogether(batch);
  }

  async #askTogether(batch: readonly Gathered[]): Promise<void> {
    const { retrier } = this.#options;
    const [first] = batch;
    if (batch.length === 1) return first?.resolve(retrier.ask(first.call));
    const outcome = await this.#repliesTo(batch);
    for (const [index, { call, resolve }] of batch.entries()) {
      const reply = outcome instanceof OverloadedError ? { value: Promise.reject(outcome) } : outcome[index];
      resolve(reply ? reply.value : this.#single.run(() => retrier.ask(call)));
    }
  }

  async #repliesTo(batch: readonly Gathered[]): Promise<BatchReply['replies'] | OverloadedError> {
    const { retrier, clock, random } = this.#options;
    const [first] = batch as readonly [Gathered];
    const asks = batch.map(({ call: { address, command, request, callId } }) => ({
      ...address,
      ...{ command, request, callId },
    }));
    try {
      const answer = await retrier.ask({
        address: first.call.address,
        command: '$askMany',
        request: { asks } satisfies BatchRequest,
        callId: random.uuid(),
        deadlineMs: Math.min(first.call.deadlineMs, clock.monotonicMs() + batchMs),
      });
      return batchReplySchema.safeParse(answer).data?.replies ?? [];
    } catch (error) {
      // The single asks report any other error to the callers concerned.
      return error instanceof OverloadedError ? error : [];
    }
  }
}

/** Grouped by shard, within the bounds of a batch. */
function batchesOf(gathered: readonly Gathered[], shardCount: number): readonly (readonly Gathered[])[] {
  const batches: Gathered[][] = [];
  const filling = new Map<number, { batch: Gathered[]; bytes: number }>();
  for (const each of gathered) {
    const shard = shardOf(each.call.address, shardCount);
    const bytes = JSON.stringify(each.call.request ?? null).length;
    const last = filling.get(shard);
    if (last !== undefined && last.batch.length < batchMax && last.bytes + bytes <= batchBytesMax) {
      last.batch.push(each);
      last.bytes += bytes;
      continue;
    }
    const batch = [each];
    batches.push(batch);
    filling.set(shard, { batch, bytes });
  }
  return batches;
}
