/**
 * Connects processes in memory as NATS does. A call goes to the subscriber of its shard, and hints go to all. A
 * process may be cut off from the others, or paused as by SIGSTOP. Messages take a millisecond.
 */
import { shardOf } from '../../runtime/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MovedError, RetryableError, UnavailableError } from '../../runtime/errors.ts';
import type { TellRow } from '../../runtime/store/store.ts';
import type {
  AskCall,
  GatewayListener,
  Hint,
  HostEvent,
  Transport,
  TransportHandler,
} from '../../runtime/transport/transport.ts';

const latencyMs = 1;

/** One process. While it is paused, everything from outside waits, its timers included. */
export class TestProcess implements Clock {
  readonly #clock: Clock;
  #isPaused = false;
  #aheadMs = 0;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(what: () => void): void {
    if (this.#isPaused) this.#waiting.push(what);
    else what();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const what of this.#waiting.splice(0)) what();
  }

  /** Resolves as soon as the process runs. */
  entered(): Promise<void> {
    return new Promise((resolve) => this.enter(resolve));
  }

  /** Somebody sets this machine's wall clock. */
  jump(byMs: number): void {
    this.#aheadMs += byMs;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.#aheadMs;
  }

  nowMicros(): number {
    return this.#clock.nowMicros() + this.#aheadMs * 1_000;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  schedule(delayMs: number, fire: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#clock.schedule(delayMs, () =>
      this.enter(() => {
        if (!isCancelled) fire();
      }),
    );
    return () => {
      isCancelled = true;
      cancel();
    };
  }
}

export class ClusterNetwork {
  readonly #clock: Clock;
  readonly #shardCount: number;
  readonly #transports: ClusterTransport[] = [];

  constructor(clock: Clock, shardCount: number) {
    this.#clock = clock;
    this.#shardCount = shardCount;
  }

  join(process = new TestProcess(this.#clock)): ClusterTransport {
    const transport = new ClusterTransport(this, process);
    this.#transports.push(transport);
    return transport;
  }

  /** Runs `arrive` at the process of `to`, unless the network loses it on the way. */
  send(from: ClusterTransport, to: ClusterTransport, arrive: () => void): void {
    this.#clock.schedule(latencyMs, () => {
      if (!from.isCut && !to.isCut) to.process.enter(arrive);
    });
  }

  hint(from: ClusterTransport, hint: Hint): void {
    for (const to of this.#transports) if (to !== from) this.send(from, to, () => to.hinted(hint));
  }

  shardOf(call: Pick<AskCall, 'address'>): number {
    return shardOf(call.address, this.#shardCount);
  }

  ownersOf(shard: number): readonly ClusterTransport[] {
    return this.#transports.filter((transport) => !transport.isCut && transport.isRouted(shard));
  }

  gateway(id: string): ClusterTransport | undefined {
    return this.#transports.find((transport) => !transport.isCut && transport.isListening(id));
  }
}

interface WaitingMessage {
  resolve(reply: unknown): void;
  fail(error: Error): void;
  answer(how: () => void): void;
}

const unanswered = (message: string) =>
  new RetryableError(message, { outcome: 'unknown', retryAfterMs: 100 });

/** The part of one process, for any of its incarnations. */
export class ClusterTransport implements Transport {
  readonly process: TestProcess;
  readonly reachesOthers = true;
  readonly #network: ClusterNetwork;
  readonly #routed = new Set<number>();
  readonly #gateways = new Map<string, GatewayListener>();
  /** Calls without an answer so far. */
  readonly #sent = new Set<{ readonly shard: number; readonly fail: (error: Error) => void }>();
  #handler: TransportHandler | undefined;
  #isCut = false;

  constructor(network: ClusterNetwork, process: TestProcess) {
    this.#network = network;
    this.process = process;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Cuts this process off from all others. */
  cut(): void {
    this.#isCut = true;
    for (const { fail } of this.#sent) fail(unanswered('the connection was lost'));
  }

  heal(): void {
    this.#isCut = false;
    for (const listener of this.#gateways.values()) listener.reconnected();
  }

  get isConnected(): boolean {
    return !this.#isCut;
  }

  /** The handlers here, for tests that ask a host which need not be the owner. */
  get handler(): TransportHandler | undefined {
    return this.#handler;
  }

  get routed(): ReadonlySet<number> {
    return this.#routed;
  }

  isRouted(shard: number): boolean {
    return this.#routed.has(shard);
  }

  isListening(gateway: string): boolean {
    return this.#gateways.has(gateway);
  }

  serve(handler: TransportHandler): void {
    this.#handler = handler;
  }

  stop(): void {
    this.#handler = undefined;
    this.#routed.clear();
  }

  /** While cut off, it resolves only once the process is reconnected, like that over NATS. */
  async route(shards: readonly number[]): Promise<void> {
    for (const shard of shards) this.#routed.add(shard);
    while (this.#isCut) await new Promise<void>((resolve) => this.process.schedule(latencyMs, resolve));
  }

  unroute(shards: readonly number[]): void {
    for (const shard of shards) this.#routed.delete(shard);
  }

  async ask(call: AskCall): Promise<unknown> {
    const shard = this.#network.shardOf(call);
    if (this.#handler !== undefined && this.#routed.has(shard)) return this.#handler.ask(call);
    if (this.#isCut) throw new UnavailableError('this process is cut off');
    const owners = this.#network.ownersOf(shard);
    if (owners.length === 0) throw new MovedError('nobody serves this now', { reachedNobody: true });
    return this.#askAll(owners, call, shard);
  }

  /** While a shard changes hands, two processes may get the call. The first answer counts. */
  #askAll(owners: readonly ClusterTransport[], call: AskCall, shard: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const answer = (how: () => void) => {
        if (!this.#sent.delete(sent)) return;
        cancel();
        how();
      };
      const fail = (error: Error) => answer(() => reject(error));
      const sent = { shard, fail };
      const leftMs = Math.max(0, call.deadlineMs - this.process.monotonicMs());
      const cancel = this.process.schedule(leftMs, () => fail(unanswered('no answer came in time')));
      this.#sent.add(sent);
      for (const owner of owners) this.#askOne(owner, call, { resolve, fail, answer });
    });
  }

  #askOne(owner: ClusterTransport, call: AskCall, { resolve, fail, answer }: WaitingMessage): void {
    this.#network.send(this, owner, () => {
      const { handler } = owner;
      const pending = handler?.askFromRemote(call) ?? Promise.reject(new MovedError('not served here now'));
      pending.then(
        (reply) => this.#network.send(owner, this, () => answer(() => resolve(reply))),
        (error) => this.#network.send(owner, this, () => fail(error)),
      );
    });
  }

  wake(tell: TellRow): void {
    if (this.#routed.has(tell.target_shard)) this.#handler?.wake(tell);
  }

  hint(hint: Hint): void {
    this.hinted(hint);
    this.#network.hint(this, hint);
  }

  hinted(hint: Hint): void {
    if (hint.hint === 'claimed') this.#claimed(new Set(hint.shards));
    this.#handler?.hinted(hint);
    for (const listener of this.#gateways.values()) listener.hinted(hint);
  }

  /** The earlier target may never answer. */
  #claimed(shards: ReadonlySet<number>): void {
    for (const { shard, fail } of this.#sent) {
      if (shards.has(shard)) fail(unanswered('the shard has another owner now'));
    }
  }

  publish(gateway: string, event: HostEvent): void {
    const to = this.#network.gateway(gateway);
    if (to === undefined) return;
    this.#network.send(this, to, () => to.heard(gateway, event));
  }

  heard(gateway: string, event: HostEvent): void {
    this.#gateways.get(gateway)?.event(event);
  }

  listen(gateway: string, listener: GatewayListener): () => void {
    this.#gateways.set(gateway, listener);
    return () => this.#gateways.delete(gateway);
  }
}
