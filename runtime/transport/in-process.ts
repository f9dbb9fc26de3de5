import { UnavailableError } from '../errors.ts';
import type { TellRow } from '../store/store.ts';
import type { AskCall, GatewayListener, Hint, HostEvent, Transport, TransportHandler } from './transport.ts';

/** The default adapter: the owner of every actor is this process, and a call is a function call. */
export class InProcessTransport implements Transport {
  #handler: TransportHandler | undefined;
  readonly #gateways = new Map<string, GatewayListener>();
  readonly reachesOthers = false;

  serve(handler: TransportHandler): void {
    this.#handler = handler;
  }

  stop(): void {
    this.#handler = undefined;
  }

  /** Nothing to do: this process owns all shards. */
  async route(): Promise<void> {}

  unroute(): void {}

  ask(call: AskCall): Promise<unknown> {
    if (this.#handler === undefined) return Promise.reject(new UnavailableError('no host serves this actor'));
    return this.#handler.ask(call);
  }

  wake(tell: TellRow): void {
    this.#handler?.wake(tell);
  }

  hint(hint: Hint): void {
    this.#handler?.hinted(hint);
    for (const listener of this.#gateways.values()) listener.hinted(hint);
  }

  publish(gateway: string, event: HostEvent): void {
    this.#gateways.get(gateway)?.event(event);
  }

  listen(gateway: string, listener: GatewayListener): () => void {
    this.#gateways.set(gateway, listener);
    return () => this.#gateways.delete(gateway);
  }

  get isConnected(): boolean {
    return this.#handler !== undefined;
  }
}
