/**
 * One connection to NATS that does not hide outages.
 *
 * The library's own reconnecting hides its losses. Messages published meanwhile are discarded, requests in flight wait for
 * their time-outs, and buffers grow without limit. A peer that no longer reads can keep the library from ever noticing, because
 * its last words wait in the socket behind all others. So this uses each of the library's connections until it fails or a ping
 * stays unanswered. It then gives the connection up at once and dials another, for as long as it takes:
 *
 *   connected --lost--> dialling --subscribed again, the server has confirmed it--> connected
 *
 * Publishing without a connection throws. Pending requests learn of each loss, and listeners of each return. The bytes
 * published and not confirmed by the server are bounded.
 *
 * Everything that goes out is signed here. An incoming message without a valid signature is counted and dropped.
 */
import { errors, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { type Clock, sleep } from '../../clock.ts';
import { messageOf, OverloadedError, TerminalError, UnavailableError } from '../../errors.ts';
import type { Logger } from '../../ports.ts';
import type { Random } from '../../random.ts';
import { DialError, dial, type NatsAccess, type NatsServerAddress, serverOf } from './dial.ts';
import { FrameError } from './frame.ts';
import type { MessageSigner, SignedMessage } from './message-signature.ts';
import type { RejectedFrames } from './metrics.ts';

export interface NatsConnectionOptions {
  readonly access: NatsAccess;
  /** The name that the server shows to operators. */
  readonly name: string;
  readonly pingIntervalMs: number;
  /** How long the first connection may take. */
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly signer: MessageSigner;
  readonly rejected: RejectedFrames;
  onLost(): void;
  onRestored(): void;
}

const redialMinMs = 50;
const redialMaxMs = 5_000;
/** The most bytes on their way to the server. A frame has a few hundred bytes, or 512 KiB on a bulk connection. */
const unconfirmedBytesMax = 64 * 1_024 * 1_024;
/** A confirmation is requested once this much is on its way. */
const confirmBytes = 1_024 * 1_024;
const overheadBytes = 128;
const noListenerCode = 503;
/** A planned stop of a server sends its clients to another one, where they arrive within milliseconds. */
const redialGraceMs = 1_000;

/** A frame that a process of this cluster has sent. */
export type ReceivedMessage = SignedMessage;

export interface MessageListener {
  readonly take: (message: ReceivedMessage) => void;
  /** The server's notice that a request with an answer to `subject` has no listener. */
  readonly nobody?: (subject: string) => void;
}

interface ActiveSubscription {
  readonly subject: string;
  readonly listener: MessageListener;
  /** The subscription of the last connection, with its number. */
  subscription?: Subscription;
  client?: NatsConnection;
}

export class ClusterConnection {
  readonly #options: NatsConnectionOptions;
  readonly #servers: readonly NatsServerAddress[];
  #client: NatsConnection | undefined;
  #isClosed = false;
  readonly #subscribed = new Set<ActiveSubscription>();
  readonly #flushing = new Set<(isDone: boolean) => void>();
  readonly #waiting = new Set<() => void>();
  #lostAtMs = 0;
  #unconfirmedBytes = 0;
  #isConfirming = false;

  private constructor(options: NatsConnectionOptions) {
    this.#options = options;
    this.#servers = options.access.servers.map(serverOf);
  }

  /** Tries for a bounded time. @throws DialError */
  static async open(options: NatsConnectionOptions): Promise<ClusterConnection> {
    const { clock } = options;
    const connection = new ClusterConnection(options);
    const untilMs = clock.monotonicMs() + options.connectTimeoutMs;
    for (let failures = 0; ; failures += 1) {
      try {
        await connection.#dial();
        return connection;
      } catch (error) {
        const pauseMs = connection.#pauseMs(failures);
        const isHopeless = !(error instanceof DialError) || error.isRejection;
        if (isHopeless || clock.monotonicMs() + pauseMs > untilMs) throw error;
        await sleep(clock, pauseMs);
      }
    }
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** The library's current connection, for JetStream, which only the library speaks. */
  get client(): NatsConnection | undefined {
    return this.#client;
  }

  /** @throws UnavailableError, OverloadedError: nothing was sent */
  publish(subject: string, frame: Uint8Array, reply?: string): void {
    if (this.#client === undefined) throw new UnavailableError('NATS cannot be reached now');
    if (this.#unconfirmedBytes > unconfirmedBytesMax) throw new OverloadedError('too much waits for NATS');
    const data = this.#options.signer.sign(frame, subject, reply);
    try {
      this.#client.publish(subject, data, reply === undefined ? undefined : { reply });
    } catch (error) {
      if (error instanceof errors.InvalidArgumentError)
        throw new TerminalError('NATS does not take this message');
      throw new UnavailableError('NATS cannot be reached now');
    }
    this.#unconfirmedBytes += data.length + overheadBytes;
    if (this.#unconfirmedBytes > confirmBytes && !this.#isConfirming) this.#confirm(this.#client);
  }

  /**
   * Listens to `subject`, over this and every later connection, until the returned function is called. It still hears messages
   * that the server had sent by then, which would otherwise vanish without an answer.
   */
  subscribe(subject: string, listener: MessageListener): () => void {
    const subscribed: ActiveSubscription = { subject, listener };
    this.#subscribed.add(subscribed);
    if (this.#client !== undefined) this.#subscribe(this.#client, subscribed);
    return () => {
      this.#subscribed.delete(subscribed);
      subscribed.subscription?.drain().catch(() => undefined);
    };
  }

  /** Whether the server has handled everything sent before. False if the connection was lost first. */
  flush(): Promise<boolean> {
    const client = this.#client;
    if (client === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#flushing.add(resolve);
      const done = (isDone: boolean) => {
        if (this.#flushing.delete(resolve)) resolve(isDone);
      };
      client.flush().then(
        () => done(true),
        () => done(false),
      );
    });
  }

  /** Resolves when there is a connection, or to false when there never will be. */
  async connected(): Promise<boolean> {
    if (!this.isConnected && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    return !this.#isClosed;
  }

  /** Resolves when there is a connection again, or when one has been missing for longer than a change of servers takes. */
  connectedSoon(): Promise<void> {
    const { clock } = this.#options;
    const leftMs = this.#lostAtMs + redialGraceMs - clock.monotonicMs();
    if (this.isConnected || this.#isClosed || leftMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#waiting.delete(done);
        resolve();
      };
      const cancel = clock.schedule(leftMs, done);
      this.#waiting.add(done);
    });
  }

  /** Sends the published messages within `withinMs`, and ends. */
  async close(withinMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wakeWaiting();
    const client = this.#client;
    if (client === undefined) return;
    const drained = client.drain().catch(() => undefined);
    await Promise.race([drained, sleep(this.#options.clock, withinMs)]);
    await client.close();
  }

  async #dial(): Promise<void> {
    const { access, name, pingIntervalMs, random } = this.#options;
    const options = { access, name, pingIntervalMs, random };
    const { client, server } = await dial(this.#servers, options);
    this.#subscribeAll(client);
    const isSubscribedNow = await Promise.race([
      client.flush().then(() => true),
      client.closed().then(() => false),
    ]);
    if (!isSubscribedNow || this.#isClosed) {
      await client.close();
      throw new DialError(`The connection to ${server.address} was lost as soon as it was made.`, false);
    }
    this.#subscribeAll(client);
    this.#client = client;
    void this.#watch(client, server);
    void client.closed().then(() => this.#lost(client, server));
    this.#wakeWaiting();
  }

  async #watch(client: NatsConnection, server: NatsServerAddress): Promise<void> {
    for await (const status of client.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') this.#lost(client, server);
      if (status.type === 'error') {
        this.#options.logger.warn({ server: server.address, error: status.error.message }, 'NATS complains');
      }
    }
  }

  #lost(client: NatsConnection, server: NatsServerAddress): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#lostAtMs = this.#options.clock.monotonicMs();
    this.#unconfirmedBytes = 0;
    this.#isConfirming = false;
    for (const resolve of this.#flushing) resolve(false);
    this.#flushing.clear();
    // Closing, unlike the library's own way out, does not wait for a peer that no longer reads.
    client.close().catch(() => undefined);
    if (!this.#isClosed) {
      this.#options.logger.warn({ server: server.address }, 'the connection to NATS was lost');
      void this.#redial();
    }
    this.#guarded(this.#options.onLost);
  }

  async #redial(): Promise<void> {
    const { clock, logger, onRestored } = this.#options;
    let reported = '';
    for (let failures = 0; ; failures += 1) {
      await sleep(clock, this.#pauseMs(failures));
      if (this.#isClosed) return;
      const failure = await this.#dial().then(
        () => undefined,
        (error) => messageOf(error),
      );
      if (failure === undefined) break;
      if (failure !== reported && !this.#isClosed) logger.warn({ reason: failure }, 'NATS cannot be reached');
      reported = failure;
    }
    logger.info({}, 'connected to NATS again');
    this.#guarded(onRestored);
  }

  #pauseMs(failures: number): number {
    const growing = Math.min(redialMaxMs, redialMinMs * 2 ** failures);
    // Processes that lost the server together should not all come back together.
    return growing * (0.5 + this.#options.random.fraction() / 2);
  }

  #subscribeAll(client: NatsConnection): void {
    // Some subscriptions may have come while the server confirmed the others.
    for (const each of this.#subscribed) if (each.client !== client) this.#subscribe(client, each);
  }

  #subscribe(client: NatsConnection, subscribed: ActiveSubscription): void {
    subscribed.client = client;
    subscribed.subscription = client.subscribe(subscribed.subject, {
      callback: (error, message) => {
        // An error means that this subscription is not allowed. It is reported as a status as well.
        if (error === null) this.#guarded(() => this.#received(message, subscribed.listener));
      },
    });
  }

  #received(message: Msg, { take, nobody }: MessageListener): void {
    const { subject, reply, data } = message;
    if (nobody !== undefined && data.length === 0 && message.headers?.code === noListenerCode) {
      nobody(subject);
      return;
    }
    const { signer, rejected } = this.#options;
    let frame: Uint8Array;
    try {
      frame = signer.verify({ subject, reply, data });
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      rejected.count(error.reason);
      return;
    }
    take({ subject, reply, data: frame });
  }

  /** An exception from a listener would end the library's reading, or the dialling, for good. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.logger.error({ error: messageOf(error) }, 'a message from NATS could not be handled');
    }
  }

  #confirm(client: NatsConnection): void {
    const bytes = this.#unconfirmedBytes;
    this.#isConfirming = true;
    const confirmed = () => {
      if (this.#client !== client) return;
      this.#unconfirmedBytes -= bytes;
      this.#isConfirming = false;
    };
    client.flush().then(confirmed, confirmed);
  }

  #wakeWaiting(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}
