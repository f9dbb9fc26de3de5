/** The transports of several hosts and gateways in one test: what one sends the others get at once, unless it is lost. */
import { shardOf } from '../../runtime/address.ts';
import type { AskCall } from '../../runtime/call.ts';
import { MovedError } from '../../runtime/errors.ts';
import type { TellRow } from '../../runtime/store/store.ts';
import type {
  GatewayListener,
  Hint,
  HostEvent,
  Transport,
  TransportHandler,
} from '../../runtime/transport/transport.ts';

export class TestNetwork {
  readonly shardCount: number;
  readonly #ends = new Set<NetworkEnd>();
  /** Whether what is sent arrives. */
  delivers: (what: 'event' | 'hint' | 'ask') => boolean = () => true;

  constructor(shardCount: number) {
    this.shardCount = shardCount;
  }

  join(): NetworkEnd {
    const end = new NetworkEnd(this);
    this.#ends.add(end);
    return end;
  }

  get ends(): readonly NetworkEnd[] {
    return [...this.#ends];
  }
}

export class NetworkEnd implements Transport {
  readonly reachesOthers = true;
  readonly isConnected = true;
  readonly network: TestNetwork;
  readonly gateways = new Map<string, GatewayListener>();
  readonly #shards = new Set<number>();
  #handler: TransportHandler | undefined;
  /** Called instead of sending an event. */
  onPublish: ((event: HostEvent) => void) | undefined;

  constructor(network: TestNetwork) {
    this.network = network;
  }

  serve(handler: TransportHandler): void {
    this.#handler = handler;
  }

  stop(): void {
    this.#handler = undefined;
    this.#shards.clear();
  }

  async route(shards: readonly number[]): Promise<void> {
    for (const shard of shards) this.#shards.add(shard);
  }

  unroute(shards: readonly number[]): void {
    for (const shard of shards) this.#shards.delete(shard);
  }

  async ask(call: AskCall): Promise<unknown> {
    await undefined;
    const { network } = this;
    const shard = shardOf(call.address, network.shardCount);
    const owner = network.ends.find((end) => end.#shards.has(shard));
    const handler = owner === undefined ? undefined : owner.#handler;
    if (handler === undefined || !network.delivers('ask'))
      throw new MovedError('nobody serves this shard now');
    return handler.ask(call);
  }

  wake(tell: TellRow): void {
    for (const end of this.network.ends) if (end.#shards.has(tell.target_shard)) end.#handler?.wake(tell);
  }

  hint(hint: Hint): void {
    if (!this.network.delivers('hint')) return;
    for (const end of this.network.ends) {
      end.#handler?.hinted(hint);
      for (const listener of end.gateways.values()) listener.hinted(hint);
    }
  }

  publish(gateway: string, event: HostEvent): void {
    if (this.onPublish !== undefined) return this.onPublish(event);
    if (!this.network.delivers('event')) return;
    for (const end of this.network.ends) end.gateways.get(gateway)?.event(event);
  }

  listen(gateway: string, listener: GatewayListener): () => void {
    this.gateways.set(gateway, listener);
    return () => this.gateways.delete(gateway);
  }
}
