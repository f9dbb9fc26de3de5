/**
 * The transport over NATS: several processes are one server. All subjects begin with the cluster's name and the database's id.
 * So clusters that share a broker, by intention or mistake, do not disturb each other.
 *
 *   <prefix>.shard.<n>             calls to the owner of a shard, the only listener there
 *   <prefix>.reply.<incarnation>.* answers to the calls of one process
 *   <prefix>.parts.<incarnation>   requests for parts of the large messages that one process holds
 *   <prefix>.part.<incarnation>.*  parts for one process
 *   <prefix>.hint                  hints to all
 *   <prefix>.gateway.<id>          events to one gateway
 *   <prefix>.wake                  wake-ups, kept by a stream
 *
 * Everything is signed (`message-signature.ts`). There are two connections: control, for small and urgent messages, and bulk,
 * for the parts of large ones. NATS disconnects a process that reads too slowly. Large parts cause that, so they cost only the
 * bulk connection.
 */
import { type Address, shardOf } from '../../address.ts';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../ports.ts';
import type { Random } from '../../random.ts';
import type { TellRow } from '../../store/store.ts';
import type { Tracer } from '../../tracing.ts';
import { OwnerEpochs } from '../owner-epochs.ts';
import type { AskCall, GatewayListener, Hint, HostEvent, Transport, TransportHandler } from '../transport.ts';
import { CallReceiver } from './call-receiver.ts';
import { CallSender } from './call-sender.ts';
import { ClusterConnection } from './connection.ts';
import type { NatsAccess } from './dial.ts';
import { HintsAndEvents } from './hints-and-events.ts';
import { LargeMessageReceiver } from './large-message-receiver.ts';
import { LargeMessageSender } from './large-message-sender.ts';
import { createMessageSigner, type MessageSigner } from './message-signature.ts';
import {
  type ConnectionName,
  RejectedFrames,
  type TransportGauges,
  type TransportMetrics,
} from './metrics.ts';
import { Mux } from './mux.ts';
import { defaultWakeStreamSettings, WakeStream, type WakeStreamSettings } from './wake-stream.ts';

export interface NatsTransportOptions {
  readonly access: NatsAccess;
  readonly clusterName: string;
  /** Letters, digits, dashes and underscores, like the cluster's name. */
  readonly databaseId: string;
  /** The incarnation of this process. */
  readonly incarnation: string;
  readonly shardCount: number;
  /** Shared by the processes of the cluster only: 32 bytes. */
  readonly signingKey: Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: TransportMetrics;
  readonly tracer?: Tracer | undefined;
  readonly pingIntervalMs?: number;
  readonly connectTimeoutMs?: number;
  readonly wakeStream?: Partial<WakeStreamSettings>;
}

const defaultPingIntervalMs = 5_000;
const defaultConnectTimeoutMs = 20_000;

/** @throws DialError: no server could be used in time */
export async function openNatsTransport(options: NatsTransportOptions): Promise<NatsTransport> {
  let transport: NatsTransport | undefined;
  const signer = createMessageSigner(options.signingKey, options.clock);
  const rejected = new RejectedFrames(options.metrics, options.logger);
  const connect = (name: ConnectionName) =>
    ClusterConnection.open({
      ...options,
      signer,
      rejected,
      name: `scriptorium ${options.incarnation} ${name}`,
      pingIntervalMs: options.pingIntervalMs ?? defaultPingIntervalMs,
      connectTimeoutMs: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
      onLost: () => transport?.onDisconnected(name),
      onRestored: () => transport?.onReconnected(name),
    });
  const control = await connect('control');
  try {
    transport = new NatsTransport({ ...options, signer, rejected }, { control, bulk: await connect('bulk') });
    return transport;
  } catch (error) {
    await control.close(0);
    throw error;
  }
}

type NatsConnections = Readonly<Record<ConnectionName, ClusterConnection>>;

interface ConnectedOptions extends NatsTransportOptions {
  readonly signer: MessageSigner;
  readonly rejected: RejectedFrames;
}

export class NatsTransport implements Transport, TransportGauges {
  readonly #options: ConnectedOptions;
  readonly #prefix: string;
  readonly #connections: NatsConnections;
  readonly #muxes: Readonly<Record<ConnectionName, Mux>>;
  readonly #largeMessages: LargeMessageSender;
  readonly #epochs = new OwnerEpochs();
  readonly #callSender: CallSender;
  readonly #callReceiver: CallReceiver;
  readonly #wakeStream: WakeStream;
  readonly #hintsAndEvents: HintsAndEvents;
  readonly #routed = new Map<number, () => void>();
  #handler: TransportHandler | undefined;
  readonly reachesOthers = true;

  /** Use `openNatsTransport`. */
  constructor(options: ConnectedOptions, connections: NatsConnections) {
    const { clusterName, databaseId, incarnation, clock } = options;
    const { control, bulk } = connections;
    const prefix = `scriptorium.${clusterName}.${databaseId}`;
    this.#options = options;
    this.#prefix = prefix;
    this.#connections = connections;
    this.#muxes = {
      control: new Mux(control, `${prefix}.reply.${incarnation}`, clock),
      bulk: new Mux(bulk, `${prefix}.part.${incarnation}`, clock),
    };
    this.#largeMessages = new LargeMessageSender({
      ...options,
      connection: bulk,
      subject: this.#partsSubject(incarnation),
    });
    const pulls = new LargeMessageReceiver({
      ...options,
      mux: this.#muxes.bulk,
      partsSubject: (holder) => this.#partsSubject(holder),
    });
    const common = { ...options, held: this.#largeMessages, pulls };
    this.#callSender = new CallSender({
      ...common,
      mux: this.#muxes.control,
      epochs: this.#epochs,
      shardSubject: (shard) => this.#shardSubject(shard),
    });
    this.#callReceiver = new CallReceiver({
      ...common,
      connection: control,
      handlerOf: (shard) => this.#handlerOf(shard),
    });
    this.#wakeStream = new WakeStream({
      ...options,
      ...defaultWakeStreamSettings,
      ...options.wakeStream,
      connection: control,
      name: `scriptorium-${clusterName}-${databaseId}`,
      subject: `${prefix}.wake`,
      ask: (call) => this.ask(call),
    });
    this.#hintsAndEvents = new HintsAndEvents({
      ...options,
      connection: control,
      hintSubject: `${prefix}.hint`,
      gatewaySubject: (gateway) => `${prefix}.gateway.${gateway}`,
      onHint: (hint) => this.#takeHint(hint),
    });
  }

  // --- state ------------------------------------------------------------------------------------------------

  get isConnected(): boolean {
    return this.#connections.control.isConnected && this.#connections.bulk.isConnected;
  }

  get isServing(): boolean {
    return this.#handler !== undefined;
  }

  /** False without JetStream, and while nothing is served here: only sweeps then find new tells. */
  get isWakeStreamAvailable(): boolean {
    return this.#wakeStream.isAvailable;
  }

  get callsInFlight(): number {
    return this.#callSender.inFlight;
  }

  get heldBytes(): number {
    return this.#largeMessages.bytes;
  }

  onDisconnected(name: ConnectionName): void {
    this.#options.metrics.disconnected(name);
    this.#muxes[name].lost();
  }

  /**
   * Tells the others to fail the calls that they sent here while this process was cut off. Otherwise they would wait until their
   * deadlines.
   */
  onReconnected(name: ConnectionName): void {
    if (name === 'control') this.#hintsAndEvents.reconnected();
    if (!this.isConnected) return;
    this.hint({ hint: 'returned', shards: [...this.#routed.keys()], host: this.#options.incarnation });
  }

  /** Ends both connections after the messages have gone out, or after `withinMs`. */
  async close(withinMs: number): Promise<void> {
    this.stop();
    const { control, bulk } = this.#connections;
    await Promise.all([control.close(withinMs), bulk.close(withinMs)]);
  }

  // --- serving ----------------------------------------------------------------------------------------------

  serve(handler: TransportHandler): void {
    this.#handler = handler;
    this.#wakeStream.serve();
  }

  stop(): void {
    this.#handler = undefined;
    this.#wakeStream.stop();
    this.unroute([...this.#routed.keys()]);
  }

  async route(shards: readonly number[]): Promise<void> {
    const { control } = this.#connections;
    for (const shard of shards) {
      if (this.#routed.has(shard)) continue;
      const unsubscribe = control.subscribe(this.#shardSubject(shard), {
        take: (message) => this.#callReceiver.take(message, shard),
      });
      this.#routed.set(shard, unsubscribe);
    }
    // The subscriptions come back with the connection. So wait for it, and flush again.
    while (shards.some((shard) => this.#routed.has(shard))) {
      if (await control.flush()) return;
      if (!(await control.connected())) return;
    }
  }

  unroute(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#routed.get(shard)?.();
      this.#routed.delete(shard);
    }
  }

  #handlerOf(shard: number): TransportHandler | undefined {
    return this.#routed.has(shard) ? this.#handler : undefined;
  }

  // --- calls and wake-ups -----------------------------------------------------------------------------------

  ask(call: AskCall): Promise<unknown> {
    const shard = this.#shardOf(call.address);
    return this.#handlerOf(shard)?.ask(call) ?? this.#callSender.ask(call, shard);
  }

  wake(tell: TellRow): void {
    const here = this.#handlerOf(this.#shardOf({ kind: tell.target_kind, id: tell.target_id }));
    (here ?? this.#wakeStream).wake(tell);
  }

  #shardOf(address: Address): number {
    return shardOf(address, this.#options.shardCount);
  }

  #shardSubject(shard: number): string {
    return `${this.#prefix}.shard.${shard}`;
  }

  #partsSubject(holder: string): string {
    return `${this.#prefix}.parts.${holder}`;
  }

  // --- hints and events -------------------------------------------------------------------------------------

  hint(hint: Hint): void {
    this.#hintsAndEvents.hint(hint);
  }

  publish(gateway: string, event: HostEvent): void {
    this.#hintsAndEvents.publish(gateway, event);
  }

  listen(gateway: string, listener: GatewayListener): () => void {
    return this.#hintsAndEvents.listen(gateway, listener);
  }

  #takeHint(hint: Hint): void {
    if (hint.hint === 'claimed') this.#epochs.claimed(hint.shards, hint.epoch);
    if (hint.hint === 'claimed' || hint.hint === 'returned')
      this.#muxes.control.abandon(hint.shards.map((shard) => this.#shardSubject(shard)));
    if (hint.hint === 'returned') this.#muxes.bulk.abandon([this.#partsSubject(hint.host)]);
    this.#handler?.hinted(hint);
  }
}
