/**
 * Wake-ups over JetStream: one stream and one durable consumer, shared by all hosts.
 *
 *   committed tell -> wake-up in the stream -> the host that takes it asks the target to deliver -> acknowledged
 *
 * No tell needs this to arrive, because owners sweep the outbox. So the stream drops wake-ups freely: the oldest when it is
 * full, those above an age, and each after a few tries. Without a stream all are dropped. If a host dies with wake-ups, another
 * one gets them when their acknowledgement is overdue. That is later than the deadline of the delivery itself.
 *
 * Every host that serves creates the stream, again if it was lost. Where too few servers can hold all copies, it keeps one, and
 * a host that starts later adds the others. A broker without JetStream, a lost leader or a full disk is logged once, retried
 * with growing pauses, and disturbs nothing else.
 */
import {
  AckPolicy,
  type Consumer,
  type ConsumerMessages,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { type Clock, sleep } from '../../clock.ts';
import { ForbiddenError, messageOf, NotFoundError, RetryableError, TerminalError } from '../../errors.ts';
import type { Logger } from '../../ports.ts';
import type { Random } from '../../random.ts';
import type { TellRow } from '../../store/store.ts';
import type { AskCall } from '../transport.ts';
import type { ClusterConnection } from './connection.ts';
import { decodeFrameOf, encodeFrame, FrameError } from './frame.ts';
import type { MessageSigner } from './message-signature.ts';
import type { RejectedFrames, TransportMetrics } from './metrics.ts';

export interface WakeStreamSettings {
  /** The number of servers that keep it. */
  readonly replicas: number;
  readonly bytesMax: number;
  readonly deliverMs: number;
  /** Longer than `deliverMs`. */
  readonly ackWaitMs: number;
}

export const defaultWakeStreamSettings: WakeStreamSettings = {
  replicas: 1,
  bytesMax: 64 * 1_024 * 1_024,
  deliverMs: 20_000,
  ackWaitMs: 30_000,
};

export interface WakeStreamOptions extends WakeStreamSettings {
  readonly connection: ClusterConnection;
  readonly name: string;
  readonly subject: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: TransportMetrics;
  readonly signer: MessageSigner;
  readonly rejected: RejectedFrames;
  readonly ask: (call: AskCall) => Promise<unknown>;
}

const consumerName = 'hosts';
const messagesMax = 100_000;
const maxAgeMs = 300_000;
const attemptsMax = 5;
const ackPendingMax = 2_048;
const publishingMax = 256;
const publishMs = 5_000;
/** Deliveries in flight for this host. */
const deliveringMax = 64;
/** A request for messages ends after this time. After two halves of it without a sign of life it is given up. */
const fetchMs = 4_000;
const retryMinMs = 500;
const retryMaxMs = 30_000;
const nakMs = 1_000;

export class WakeStream {
  readonly #options: WakeStreamOptions;
  /** A service may start while the previous one still waits: the token tells the old one to stop. */
  #service: symbol | undefined;
  #isAvailable = false;
  #publishing = 0;
  #delivering = 0;
  #messages: ConsumerMessages | undefined;
  #slotFreed: (() => void) | undefined;

  constructor(options: WakeStreamOptions) {
    this.#options = options;
  }

  /** Whether wake-ups go out and come in. */
  get isAvailable(): boolean {
    return this.#isAvailable && this.#options.connection.isConnected;
  }

  serve(): void {
    if (this.#service !== undefined) return;
    const service = Symbol('service');
    this.#service = service;
    void this.#run(service);
  }

  stop(): void {
    this.#service = undefined;
    this.#isAvailable = false;
    this.#messages?.stop();
  }

  /** Never throws: a sweep finds tells whose wake-up does not go out. */
  wake(tell: TellRow): void {
    const { connection, metrics } = this.#options;
    const { client } = connection;
    if (client === undefined || !this.#isAvailable || this.#publishing >= publishingMax) {
      metrics.wakeFailed();
      return;
    }
    const target = { kind: tell.target_kind, id: tell.target_id };
    const frame = encodeFrame({ kind: 'wake', tellId: tell.tell_id, target });
    this.#publishing += 1;
    metrics.frame('out', 'wake');
    void this.#publish(client, frame).finally(() => {
      this.#publishing -= 1;
    });
  }

  async #publish(client: NatsConnection, frame: Buffer): Promise<void> {
    const { subject, metrics, signer } = this.#options;
    try {
      await jetstream(client).publish(subject, signer.sign(frame, subject), {
        timeout: publishMs,
        retries: 0,
      });
    } catch (error) {
      metrics.wakeFailed();
      // The stream is gone, so published wake-ups are lost. The consumer may take long to notice.
      if (error instanceof Error && error.name === 'JetStreamNotEnabled') this.#messages?.stop(error);
    }
  }

  async #run(service: symbol): Promise<void> {
    const { connection, clock, logger } = this.#options;
    let failures = 0;
    while (this.#service === service) {
      if (!(await connection.connected())) return;
      const { client } = connection;
      if (client === undefined) continue;
      try {
        const consumer = await this.#open(client);
        if (this.#service !== service) return;
        if (failures > 0) logger.info({}, 'wake-ups go over JetStream again');
        failures = 0;
        this.#isAvailable = true;
        await this.#consume(consumer, service);
      } catch (error) {
        if (this.#service !== service) return;
        this.#isAvailable = false;
        const reason = messageOf(error);
        if (failures === 0)
          logger.warn({ reason }, 'wake-ups do not go over JetStream now: sweeps make up for them');
        await sleep(clock, this.#pauseMs(failures));
        failures += 1;
      }
    }
  }

  /** The consumer. Creates everything that it needs and that is missing. */
  async #open(client: NatsConnection): Promise<Consumer> {
    const { name, replicas, ackWaitMs } = this.#options;
    const manager = await jetstreamManager(client, { checkAPI: false });
    await this.#updateOrCreateStream(manager, replicas).catch((error) => {
      if (!isUnplaceable(error)) throw error;
      return this.#updateOrCreateStream(manager, 1);
    });
    const acknowledgement = {
      ack_wait: nanos(ackWaitMs),
      max_deliver: attemptsMax,
      max_ack_pending: ackPendingMax,
    };
    await manager.consumers.update(name, consumerName, acknowledgement).catch((error) => {
      if (!isMissing(error)) throw error;
      return manager.consumers.add(name, {
        ...acknowledgement,
        durable_name: consumerName,
        ack_policy: AckPolicy.Explicit,
      });
    });
    return jetstream(client).consumers.get(name, consumerName);
  }

  async #updateOrCreateStream(manager: JetStreamManager, replicas: number): Promise<void> {
    const { name, subject, bytesMax } = this.#options;
    const changeable = {
      subjects: [subject],
      max_bytes: bytesMax,
      max_msgs: messagesMax,
      max_age: nanos(maxAgeMs),
      num_replicas: replicas,
      discard: DiscardPolicy.Old,
    };
    const fixed = { name, retention: RetentionPolicy.Workqueue, storage: StorageType.File };
    await manager.streams.update(name, changeable).catch((error) => {
      if (!isMissing(error)) throw error;
      return manager.streams.add({ ...changeable, ...fixed });
    });
  }

  /** Takes messages while this service lasts. Throws when no more can come. */
  async #consume(consumer: Consumer, service: symbol): Promise<void> {
    while (this.#service === service) {
      await this.#slot();
      const capacity = deliveringMax - this.#delivering;
      const messages = await consumer.fetch({ max_messages: capacity, expires: fetchMs });
      if (this.#service !== service) return messages.stop();
      this.#messages = messages;
      for await (const message of messages) {
        this.#delivering += 1;
        void this.#deliver(message).finally(() => {
          this.#delivering -= 1;
          this.#slotFreed?.();
        });
      }
      if (!this.#options.connection.isConnected) return;
    }
  }

  async #slot(): Promise<void> {
    if (this.#delivering < deliveringMax) return;
    await new Promise<void>((resolve) => {
      this.#slotFreed = resolve;
    });
  }

  /** If the connection was lost meanwhile, this goes nowhere, and the acknowledgement becomes overdue. */
  async #deliver(message: JsMsg): Promise<void> {
    try {
      await this.#ask(message);
      message.ack();
    } catch (error) {
      if (!isHopeless(error))
        return message.nak(error instanceof RetryableError ? error.retryAfterMs : nakMs);
      if (error instanceof FrameError) this.#options.rejected.count(error.reason);
      this.#options.metrics.wakeFailed();
      message.term();
    }
  }

  #ask(message: JsMsg): Promise<unknown> {
    const { clock, random, deliverMs, metrics, signer, ask } = this.#options;
    const { subject, data } = message;
    const { tellId, target } = decodeFrameOf(signer.verify({ subject, data }), 'wake');
    metrics.frame('in', 'wake');
    return ask({
      address: target,
      command: '$deliver',
      request: { tellId },
      callId: random.uuid(),
      deadlineMs: clock.monotonicMs() + deliverMs,
    });
  }

  #pauseMs(failures: number): number {
    const growing = Math.min(retryMaxMs, retryMinMs * 2 ** failures);
    return growing * (0.5 + this.#options.random.fraction() / 2);
  }
}

const missing: readonly number[] = [JetStreamApiCodes.StreamNotFound, JetStreamApiCodes.ConsumerNotFound];
const isMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && missing.includes(error.code);

/** JetStream knows too few servers for the copies. */
const clusterNoPeers = 10_005;
const isUnplaceable = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === clusterNoPeers;

/** Retrying cannot help. */
const isHopeless = (error: unknown): boolean =>
  error instanceof FrameError ||
  error instanceof TerminalError ||
  error instanceof NotFoundError ||
  error instanceof ForbiddenError;
