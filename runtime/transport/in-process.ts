import type { AskCall } from '../call.ts';
import { UnavailableError } from '../errors.ts';
import type { TellRow } from '../store/store.ts';
import type { Transport, TransportHandler } from './transport.ts';

/** The default adapter: the owner of every actor is this process, and a call is a function call. */
export class InProcessTransport implements Transport {
  #handler: TransportHandler | undefined;

  serve(handler: TransportHandler): void {
    this.#handler = handler;
  }

  stop(): void {
    this.#handler = undefined;
  }

  ask(call: AskCall): Promise<unknown> {
    if (this.#handler === undefined) return Promise.reject(new UnavailableError('no host serves this actor'));
    return this.#handler.ask(call);
  }

  wake(tell: TellRow): void {
    this.#handler?.wake(tell);
  }

  get isConnected(): boolean {
    return this.#handler !== undefined;
  }
}
