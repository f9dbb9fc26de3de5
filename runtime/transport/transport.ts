/**
 * The transport port: how an ask reaches the owner of an actor, and how a host learns of a tell early. Nothing here
 * is a promise: a call may be lost or doubled on its way, a wake-up may never come. The outbox and recorded calls
 * make up for it.
 */
import type { AskCall } from '../call.ts';
import type { TellRow } from '../store/store.ts';

export interface TransportHandler {
  ask(call: AskCall): Promise<unknown>;
  wake(tell: TellRow): void;
}

export interface Transport {
  /** Serves calls until `stop`. */
  serve(handler: TransportHandler): void;
  stop(): void;
  /** @throws ActorError of the class that decides what the caller may do */
  ask(call: AskCall): Promise<unknown>;
  wake(tell: TellRow): void;
  readonly isConnected: boolean;
}
