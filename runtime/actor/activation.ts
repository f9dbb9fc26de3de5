/**
 * Activation: a barrier first, then the state.
 *
 * The barrier sets the row's epoch to ours. It waits for any commit that the old owner has in flight, and every later commit of
 * that owner finds no row. Only then does a later statement read the state. A read that began before the barrier was answered
 * could miss the old owner's last commit.
 */
import type { Address } from '../address.ts';
import { OverloadedError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { Kind } from '../kind.ts';
import type { Slice, SliceMap } from '../slice.ts';
import { decode } from '../store/encoding.ts';
import type { SliceRow, Store, TimerRow } from '../store/store.ts';
import { tombstoneSlice } from '../store/tables.ts';

export interface LoadedState {
  readonly version: number;
  readonly slices: Iterable<readonly [name: string, value: unknown]>;
  readonly timers: readonly TimerRow[];
}

/** @throws StoreError; an error of the schema or the format if this release cannot read the stored state */
export async function loadActor(
  store: Store,
  kind: Kind,
  actor: { readonly address: Address; readonly shard: number; readonly epoch: number },
  create: boolean,
): Promise<LoadedState | 'fenced' | 'absent'> {
  const { address, shard, epoch } = actor;
  const activation = await store.activate(address, shard, epoch, create);
  if (activation.outcome !== 'active') return activation.outcome;
  const [slices, timers] = await Promise.all([store.slices(address), store.timers(address)]);
  return { version: activation.row.version, slices: [...decodeSlices(kind, slices)], timers };
}

/**
 * The slices of an actor as its kind declares them. The database keeps a slice whose name the kind no longer declares.
 * @throws if a stored slice has a newer format or does not fit its schema
 */
function* decodeSlices(kind: Kind, rows: readonly SliceRow[]): Generator<[string, unknown]> {
  for (const { slice, data } of rows) {
    if (slice === tombstoneSlice) yield [slice, true];
    const declared = declaration(kind, slice);
    if (declared === undefined) continue;
    yield [slice, declared.schema.parse(decode(data, declared.format))];
  }
}

function declaration(kind: Kind, name: string): Slice<unknown> | SliceMap<unknown> | undefined {
  const colon = name.indexOf(':');
  const family = colon === -1 ? undefined : name.slice(0, colon);
  return kind.slices.find((declared) =>
    'family' in declared ? declared.family === family : declared.name === name,
  );
}

/** Callers that wait for an actor to become active, but put no message into its mailbox: calls answered without a turn. */
interface ActivationWaitersOptions {
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
}

interface Waiter {
  readonly deadlineMs: number;
  ready(): void;
  fail(error: unknown): void;
}

export class ActivationWaiters {
  readonly #options: ActivationWaitersOptions;
  #waiters: Waiter[] = [];

  constructor(options: ActivationWaitersOptions) {
    this.#options = options;
  }

  /** Resolves once the actor is active. @throws ActorError */
  wait(deadlineMs: number): Promise<void> {
    if (this.#waiters.length >= this.#options.limits.mailboxMax) {
      this.#options.metrics.overloaded('activation');
      return Promise.reject(new OverloadedError('too many reads wait for this actor'));
    }
    return new Promise((ready, fail) => this.#waiters.push({ deadlineMs, ready, fail }));
  }

  ready(): void {
    for (const { ready } of this.#waiters.splice(0)) ready();
  }

  fail(error: Error): void {
    for (const { fail } of this.#waiters.splice(0)) fail(error);
  }

  /** Fails callers whose deadline has passed. */
  expire(nowMs: number, error: () => Error): void {
    for (const { fail } of this.#waiters.filter(({ deadlineMs }) => deadlineMs < nowMs)) fail(error());
    this.#waiters = this.#waiters.filter(({ deadlineMs }) => deadlineMs >= nowMs);
  }
}
