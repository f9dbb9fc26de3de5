/**
 * Which gateways follow which actors of this host, and what is sent to them (design section 7).
 *
 * Nothing here is durable and nothing here is a promise: an event is sent once, after the commit that justifies it.
 * What makes up for a lost one is that a gateway notices and has its actors follow it again (`following.ts`):
 *
 *   the shard gets another owner     the new one hints that it claimed it; here all of its follows are dropped
 *   this host ends, in any way       likewise, once its shards are claimed
 *   an event is lost on its way      events to one gateway are numbered; the next one shows the gap
 *   the last one is lost             every few seconds a beat, an event of nobody, takes the next number
 *
 * A gateway that ended without a word is sent events until its follows expire. They reach nobody.
 */
import { type Address, addressKey, shardOf } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';

/** What a turn wants to leave at the gate with its outcome, beside what it writes. */
export type Signal = { readonly publish: unknown } | { readonly follow: string };

/** Longer than a gateway takes to have itself followed again by all. */
const followMs = 900_000;
const beatMs = 10_000;
/** Follows on one host, as each costs memory: more are refused. */
const followsMax = 200_000;

/** The actor of a beat: nobody's. */
export const nobody: Address = { kind: '', id: '' };

export interface FollowersOptions {
  readonly transport: Pick<Transport, 'publish'>;
  readonly clock: Clock;
  readonly shardCount: number;
  /** This host's incarnation, by which gateways tell hosts apart. */
  readonly host: string;
  readonly followsMax?: number;
}

interface Follow {
  readonly gateway: string;
  readonly untilMs: number;
}

interface Followed {
  readonly shard: number;
  follows: readonly Follow[];
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #followsMax: number;
  readonly #followed = new Map<string, Followed>();
  /** The number of the last event sent to each gateway. */
  readonly #sent = new Map<string, number>();
  #size = 0;
  #cancelBeat: (() => void) | undefined;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#followsMax = options.followsMax ?? followsMax;
  }

  get host(): string {
    return this.#options.host;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether this gateway may follow this actor, for all that is known before it does. */
  admits(actor: Address, gateway: string): boolean {
    if (this.#size < this.#followsMax) return true;
    const followed = this.#followed.get(addressKey(actor));
    return followed?.follows.some((follow) => follow.gateway === gateway) ?? false;
  }

  /** What a turn of this actor wanted to leave may leave now. */
  signalled(actor: Address, signals: readonly Signal[]): void {
    for (const signal of signals) {
      if ('follow' in signal) this.#follow(actor, signal.follow);
      else this.#publish(actor, signal.publish);
    }
  }

  dropShards(shards: ReadonlySet<number>): void {
    for (const [key, followed] of this.#followed) {
      if (shards.has(followed.shard)) this.#keep(key, followed, []);
    }
  }

  stop(): void {
    this.#cancelBeat?.();
    this.#cancelBeat = undefined;
    this.#followed.clear();
    this.#sent.clear();
    this.#size = 0;
  }

  #follow(actor: Address, gateway: string): void {
    const key = addressKey(actor);
    const followed = this.#followed.get(key) ?? {
      shard: shardOf(actor, this.#options.shardCount),
      follows: [],
    };
    const others = followed.follows.filter((follow) => follow.gateway !== gateway);
    const untilMs = this.#options.clock.monotonicMs() + followMs;
    this.#followed.set(key, followed);
    this.#keep(key, followed, [...others, { gateway, untilMs }]);
    if (this.#cancelBeat === undefined) this.#scheduleBeat();
  }

  #publish(actor: Address, event: unknown): void {
    for (const { gateway } of this.#followed.get(addressKey(actor))?.follows ?? []) {
      this.#send(gateway, actor, event);
    }
  }

  #send(gateway: string, address: Address, event: unknown): void {
    const sequence = (this.#sent.get(gateway) ?? 0) + 1;
    this.#sent.set(gateway, sequence);
    this.#options.transport.publish(gateway, { host: this.host, sequence, address, event });
  }

  #keep(key: string, followed: Followed, follows: readonly Follow[]): void {
    this.#size += follows.length - followed.follows.length;
    followed.follows = follows;
    if (follows.length === 0) this.#followed.delete(key);
  }

  #scheduleBeat(): void {
    this.#cancelBeat = this.#options.clock.schedule(beatMs, () => this.#beat());
  }

  #beat(): void {
    this.#cancelBeat = undefined;
    const gateways = this.#expire();
    for (const gateway of this.#sent.keys()) if (!gateways.has(gateway)) this.#sent.delete(gateway);
    for (const gateway of gateways) this.#send(gateway, nobody, null);
    if (gateways.size > 0) this.#scheduleBeat();
  }

  /** Forgets follows that were not renewed. Those that are left are of these gateways. */
  #expire(): ReadonlySet<string> {
    const nowMs = this.#options.clock.monotonicMs();
    const gateways = new Set<string>();
    for (const [key, followed] of this.#followed) {
      if (followed.follows.some(({ untilMs }) => untilMs <= nowMs)) {
        this.#keep(
          key,
          followed,
          followed.follows.filter(({ untilMs }) => untilMs > nowMs),
        );
      }
      for (const { gateway } of followed.follows) gateways.add(gateway);
    }
    return gateways;
  }
}
