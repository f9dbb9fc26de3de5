/**
 * A process's side of the network. It behaves as `runtime/transport/transport.ts` requires and as the NATS adapter
 * does.
 * - A call whose shard is routed here is a function call.
 * - While the process knows that it is cut off, calls reject at once, and waiting calls have an unknown outcome.
 * - A call without a listener has moved.
 * - A call names the epoch of the owner that it is for.
 * - Any other call ends by its answer or its deadline.
 */
import { shardOf } from '../../runtime/address.ts';
import {
  ActorError,
  MovedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../../runtime/errors.ts';
import type { TellRow } from '../../runtime/store/store.ts';
import { OwnerEpochs } from '../../runtime/transport/owner-epochs.ts';
import type {
  AskCall,
  GatewayListener,
  Hint,
  HostEvent,
  Transport,
  TransportHandler,
} from '../../runtime/transport/transport.ts';
import type { FaultInjector } from './fault-injector.ts';
import type { SimulatedProcess } from './process.ts';
import type { Trace } from './trace.ts';

interface Pending {
  readonly shard: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Answer = (pending: Pending) => void;

/** Observes the output of a host at the moment it leaves. */
export interface OutputWatcher {
  replied(call: AskCall, reply: unknown, process: SimulatedProcess): void;
  woke(tell: TellRow): void;
  /**
   * Asked when a call arrives. The result is asked when the host answers: whether it may, although the shard is not routed to it.
   * The database decides who owns the shard: a host whose ownership is disputed still does.
   */
  mayAnswer(host: string, shard: number, call: AskCall): () => boolean;
  /** A host has answered a call of a shard that it does not serve. */
  answeredUnserved(host: string, shard: number): void;
}

/** The network between the processes. */
export interface Wires {
  readonly shardCount: number;
  readonly trace: Trace;
  readonly watcher: OutputWatcher;
  readonly faultInjector: FaultInjector;
  announce(endpoint: Endpoint, shards: readonly number[]): void;
  targetsOf(caller: Endpoint, shard: number): readonly Endpoint[];
  carry(from: Endpoint, to: Endpoint, what: string, handle: () => void): void;
  broadcast(from: Endpoint, what: string, handle: (to: Endpoint) => void): void;
  wake(tell: TellRow): void;
  publish(from: Endpoint, gateway: string, event: HostEvent): void;
  latencyMs(): number;
  after(delayMs: number, fire: () => void): void;
}

const lostRetryMs = 100;

export class Endpoint implements Transport {
  readonly process: SimulatedProcess;
  readonly reachesOthers = true;
  /** Shards whose calls must come here. */
  readonly routed = new Set<number>();
  readonly #network: Wires;
  /** The listeners, as this process's broker knows them. */
  readonly #interest = new Map<Endpoint, Set<number>>();
  readonly #pending = new Map<number, Pending>();
  readonly #epochs = new OwnerEpochs();
  /** Keyed by gateway. */
  readonly #listeners = new Map<string, GatewayListener>();
  #tokens = 0;
  #handler: TransportHandler | undefined;
  #isConnected = true;
  #whenConnected: (() => void)[] = [];

  constructor(network: Wires, process: SimulatedProcess) {
    this.#network = network;
    this.process = process;
  }

  get handler(): TransportHandler | undefined {
    return this.#handler;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  serve(handler: TransportHandler): void {
    this.#handler = handler;
  }

  stop(): void {
    this.#handler = undefined;
    this.unroute([...this.routed]);
  }

  route(shards: readonly number[]): Promise<void> {
    for (const shard of shards) this.routed.add(shard);
    this.#network.announce(this, shards);
    return new Promise((resolve) => {
      this.#network.after(this.#network.latencyMs(), () =>
        this.process.enter(() => {
          if (this.#isConnected) resolve();
          else this.#whenConnected.push(resolve);
        }),
      );
    });
  }

  unroute(shards: readonly number[]): void {
    for (const shard of shards) this.routed.delete(shard);
    this.#network.announce(this, shards);
  }

  hint(hint: Hint): void {
    if (this.process.isDead) return;
    this.#hinted(hint);
    if (!this.#isConnected) return;
    this.#network.broadcast(this, `hint ${hint.hint}`, (to) => to.#hinted(hint));
  }

  wake(tell: TellRow): void {
    if (this.process.isDead) return;
    this.#network.watcher.woke(tell);
    const isHere = this.routed.has(this.#shardOf(tell.target_kind, tell.target_id));
    if (isHere && this.#handler !== undefined) this.#handler.wake(tell);
    else if (this.#isConnected) this.#network.wake(tell);
  }

  publish(gateway: string, event: HostEvent): void {
    if (this.process.isDead) return;
    if (this.#listeners.has(gateway)) this.heard(gateway, event);
    else if (this.#isConnected) this.#network.publish(this, gateway, event);
  }

  listen(gateway: string, listener: GatewayListener): () => void {
    this.#listeners.set(gateway, listener);
    return () => this.#listeners.delete(gateway);
  }

  listensAs(gateway: string): boolean {
    return this.#listeners.has(gateway);
  }

  heard(gateway: string, event: HostEvent): void {
    this.#listeners.get(gateway)?.event(event);
  }

  // --- brokers ----------------------------------------------------------------------------------------------

  /** The news arrives late, but carries the state of its arrival: so the latest news is right. */
  see(endpoint: Endpoint, shards: readonly number[]): void {
    const interest = this.#interest.get(endpoint) ?? new Set<number>();
    this.#interest.set(endpoint, interest);
    for (const shard of shards) {
      if (endpoint.routed.has(shard) && !endpoint.process.isDead) interest.add(shard);
      else interest.delete(shard);
    }
  }

  forget(endpoint: Endpoint): void {
    this.#interest.delete(endpoint);
  }

  listeners(shard: number): readonly Endpoint[] {
    return [...this.#interest].filter(([, shards]) => shards.has(shard)).map(([endpoint]) => endpoint);
  }

  disconnected(): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    this.#abandon(() => true);
  }

  #hinted(hint: Hint): void {
    // The process that had these shards before may be dead.
    if (hint.hint === 'claimed') {
      this.#epochs.claimed(hint.shards, hint.epoch);
      this.#abandon(({ shard }) => hint.shards.includes(shard));
    }
    this.#handler?.hinted(hint);
    for (const listener of this.#listeners.values()) listener.hinted(hint);
  }

  #abandon(isLost: (pending: Pending) => boolean): void {
    for (const [token, pending] of this.#pending) {
      if (!isLost(pending)) continue;
      this.#pending.delete(token);
      pending.reject(new RetryableError('cut off', { outcome: 'unknown', retryAfterMs: lostRetryMs }));
    }
  }

  reconnected(): void {
    if (this.#isConnected) return;
    this.#isConnected = true;
    this.#network.announce(this, [...this.routed]);
    for (const resolve of this.#whenConnected.splice(0)) resolve();
    for (const listener of this.#listeners.values()) listener.reconnected();
  }

  // --- calls ------------------------------------------------------------------------------------------------

  ask(call: AskCall): Promise<unknown> {
    const shard = this.#shardOf(call.address.kind, call.address.id);
    if (this.#handler !== undefined && this.routed.has(shard)) return this.#watched(call, this.#handler.ask);
    if (!this.#isConnected) return Promise.reject(new UnavailableError('cut off'));
    return this.#askRemotely(call, shard);
  }

  async #askRemotely(call: AskCall, shard: number): Promise<unknown> {
    const epoch = this.#epochs.of(shard);
    try {
      return await new Promise((resolve, reject) =>
        this.#send({ ...call, epoch }, { shard, resolve, reject }),
      );
    } catch (error) {
      if (!this.#epochs.refused(shard, epoch, error)) throw error;
    }
    return this.ask(call);
  }

  #send(call: AskCall, pending: Pending): void {
    const { faultInjector, trace } = this.#network;
    faultInjector.atMessage(this.process);
    this.process.enter(() => {
      const remainingMs = call.deadlineMs - this.process.monotonicMs();
      if (remainingMs <= 0) return pending.reject(new RetryableError('too late', { outcome: 'none' }));
      const token = this.#await(pending, remainingMs);
      const targets = this.#network.targetsOf(this, pending.shard);
      if (targets.length === 0) {
        const nobody: Answer = ({ reject }) =>
          reject(new MovedError('nobody serves this now', { reachedNobody: true }));
        this.#network.after(this.#network.latencyMs(), () =>
          this.process.enter(() => this.#answered(token, nobody)),
        );
      }
      const what = `${call.command} ${call.callId}`;
      trace.add(
        () =>
          `${what} from ${this.process.name} to ${targets.map(({ process }) => process.name).join(' and ')}`,
      );
      for (const target of targets) {
        this.#network.carry(this, target, what, () => target.#arrived(this, token, call, remainingMs));
      }
      faultInjector.atMessage(this.process);
    });
  }

  #await({ shard, resolve, reject }: Pending, remainingMs: number): number {
    this.#tokens += 1;
    const token = this.#tokens;
    const cancel = this.process.schedule(remainingMs, () =>
      this.#answered(token, (pending) =>
        pending.reject(new RetryableError('no answer came in time', { outcome: 'unknown' })),
      ),
    );
    this.#pending.set(token, {
      shard,
      resolve: (value) => {
        cancel();
        resolve(value);
      },
      reject: (error) => {
        cancel();
        reject(error);
      },
    });
    return token;
  }

  #answered(token: number, answer: Answer): void {
    const pending = this.#pending.get(token);
    if (pending === undefined) return;
    this.#pending.delete(token);
    answer(pending);
  }

  #arrived(from: Endpoint, token: number, call: AskCall, remainingMs: number): void {
    const shard = this.#shardOf(call.address.kind, call.address.id);
    const deadlineMs = this.process.monotonicMs() + remainingMs;
    const handler = this.#handler;
    const { watcher } = this.#network;
    const { name } = this.process;
    const wasRouted = this.routed.has(shard);
    const mayAnswer = watcher.mayAnswer(name, shard, call);
    const running =
      handler === undefined
        ? Promise.reject(new MovedError('this process serves nothing'))
        : this.#watched({ ...call, deadlineMs }, async (received) => {
            const value = await handler.askFromRemote(received);
            const isServed = wasRouted || this.routed.has(shard) || mayAnswer();
            // A process that died at the moment of its answer serves nothing any more, and the answer does not leave it.
            if (!isServed && !this.process.isDead) watcher.answeredUnserved(name, shard);
            return value;
          });
    running.then(
      (value) => this.#reply(from, token, call, ({ resolve }) => resolve(value)),
      (error) => this.#reply(from, token, call, ({ reject }) => reject(asActorError(error))),
    );
  }

  #reply(to: Endpoint, token: number, call: AskCall, answer: Answer): void {
    const { faultInjector } = this.#network;
    faultInjector.atMessage(this.process);
    this.process.enter(() => {
      if (!this.#isConnected) return;
      this.#network.carry(this, to, `reply of ${call.callId}`, () => to.#answered(token, answer));
      faultInjector.atMessage(this.process);
    });
  }

  #watched(call: AskCall, ask: TransportHandler['ask']): Promise<unknown> {
    const { trace, watcher } = this.#network;
    return ask(call).then(
      (value) => {
        if (!call.command.startsWith('$') && !this.process.isDead) watcher.replied(call, value, this.process);
        return value;
      },
      (error) => {
        trace.add(
          () =>
            `${this.process.name} ${call.address.id.slice(0, 4)} ${call.command} ${call.callId}: ${error}`,
        );
        throw error;
      },
    );
  }

  #shardOf(kind: string, id: string): number {
    return shardOf({ kind, id }, this.#network.shardCount);
  }
}

const asActorError = (error: unknown): ActorError =>
  error instanceof ActorError ? error : new TerminalError('the owner of the actor failed');
