/**
 * The sockets of this process, by user, and what reaches them.
 *
 * A socket is here from before its session is checked until it is closed, so that nothing that happens meanwhile is
 * missed: a session that ends while its socket opens, a shard that moves. One ask at the user's actor checks the
 * session and subscribes this gateway to the actor; that is repeated after anything that may have lost an event, and
 * then sockets of sessions that are gone are closed and the others are told to sync.
 */
import { type FrameEvent, itemsChanged, User, userEventSchema } from '../../actors/user/contract.ts';
import type { Address } from '../../runtime/address.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { Subscribe, SubscribedActors } from '../../runtime/events.ts';
import type { Actors } from '../../runtime/handles.ts';
import type { Random } from '../../runtime/random.ts';
import type { GatewaySettings } from '../settings.ts';
import { frameText } from './frames.ts';
import type { SocketMetrics } from './metrics.ts';
import { closeCodes, type OpenSocket } from './open-socket.ts';

export interface HubOptions {
  readonly actors: Actors;
  readonly subscribe: Subscribe;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: SocketMetrics;
  readonly limits: Pick<GatewaySettings['sockets'], 'socketsMax' | 'socketsPerUserMax'>;
}

/** A client dials again when it takes longer, and the registration is repeated. */
const askMs = 5_000;
/** Closing all of them takes at least this long for each, as most clients dial again at once. */
const closePaceMs = 1;
const closeTickMs = 50;

export class Hub {
  readonly #options: HubOptions;
  readonly #subscriptions: SubscribedActors;
  /** Of one run of one process. */
  readonly #gateway: string;
  readonly #users = new Map<string, Set<OpenSocket>>();
  #size = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#gateway = options.random.uuid();
    this.#subscriptions = options.subscribe({
      metrics: options.metrics,
      gateway: this.#gateway,
      register: ({ id }) => this.#register(id),
      event: ({ id }, event) => this.#event(id, event),
      repaired: ({ id }) => this.#send(id, itemsChanged(id, options.clock.nowMicros())),
    });
  }

  /** Sockets, those that are being opened included. */
  get size(): number {
    return this.#size;
  }

  get users(): number {
    return this.#users.size;
  }

  /** Users waiting to be registered again. */
  get waiting(): number {
    return this.#subscriptions.waiting;
  }

  stop(): void {
    this.#subscriptions.stop();
  }

  /** Takes a socket in, to be checked next. */
  add(socket: OpenSocket): 'added' | 'full' | 'full-for-user' {
    const { limits } = this.#options;
    const { userUuid } = socket;
    if (this.#size >= limits.socketsMax) return 'full';
    const sockets = this.#users.get(userUuid) ?? new Set();
    if (sockets.size >= limits.socketsPerUserMax) return 'full-for-user';
    sockets.add(socket);
    this.#users.set(userUuid, sockets);
    this.#size += 1;
    this.#subscriptions.add(actorOf(userUuid));
    return 'added';
  }

  /** Whether the session of a socket that was added lives, and its user is subscribed to. @throws ActorError */
  async check(socket: OpenSocket): Promise<boolean> {
    const { userUuid, sessionUuid } = socket;
    const { living, host } = await this.#ask(userUuid, [sessionUuid]);
    if (host !== undefined) this.#subscriptions.registered(actorOf(userUuid), host);
    return living.includes(sessionUuid) && !socket.isClosed;
  }

  /** May be called again for the same socket. */
  remove(socket: OpenSocket): void {
    const { userUuid } = socket;
    const sockets = this.#users.get(userUuid);
    if (sockets?.delete(socket) !== true) return;
    this.#size -= 1;
    if (sockets.size > 0) return;
    this.#users.delete(userUuid);
    this.#subscriptions.remove(actorOf(userUuid));
  }

  /**
   * Closes every socket, each after a random part of a time that grows with their number: those who dial again
   * should not all do so at once.
   */
  async closeAll(withinMs: number): Promise<void> {
    const { clock, random } = this.#options;
    const spreadMs = Math.min(withinMs, this.#size * closePaceMs);
    const waiting = [...this.#users.values()]
      .flatMap((sockets) => [...sockets])
      .map((socket) => ({ socket, atMs: spreadMs * random.fraction() }))
      .sort((a, b) => a.atMs - b.atMs);
    let passedMs = 0;
    for (const { socket, atMs } of waiting) {
      for (; passedMs + closeTickMs <= atMs; passedMs += closeTickMs) await sleep(clock, closeTickMs);
      socket.end('draining', closeCodes.restarting);
    }
  }

  async #ask(
    userUuid: string,
    sessions: readonly string[],
  ): Promise<{ living: readonly string[]; host?: string | undefined }> {
    const { ask } = this.#options.actors.get(User, userUuid);
    try {
      return await ask.openSocket({ gateway: this.#gateway, sessions }, { deadlineMs: askMs });
    } catch (error) {
      // The account was deleted.
      if (error instanceof NotFoundError) return { living: [] };
      throw error;
    }
  }

  async #register(userUuid: string): Promise<string | undefined> {
    const asked = new Set<string>();
    for (const { sessionUuid } of this.#users.get(userUuid) ?? []) asked.add(sessionUuid);
    const { living, host } = await this.#ask(userUuid, [...asked]);
    for (const session of living) asked.delete(session);
    this.#closeSessions(userUuid, asked);
    return host;
  }

  #event(userUuid: string, event: unknown): void {
    // A newer release may publish what this one does not know.
    const { data } = userEventSchema.safeParse(event);
    if (data?.event === 'frame') this.#send(userUuid, data);
    if (data?.event === 'sessions-ended') this.#closeSessions(userUuid, new Set(data.sessions));
  }

  #send(userUuid: string, frame: FrameEvent): void {
    const text = frameText(userUuid, frame, this.#options.clock.nowMs());
    let sent = 0;
    for (const socket of this.#socketsOf(userUuid)) {
      if (socket.sessionUuid !== frame.exceptSession && socket.send(text)) sent += 1;
    }
    this.#options.metrics.sent(sent);
  }

  #closeSessions(userUuid: string, sessions: ReadonlySet<string>): void {
    for (const socket of this.#socketsOf(userUuid)) {
      if (sessions.has(socket.sessionUuid)) socket.end('session-ended', closeCodes.sessionEnded);
    }
  }

  /** A copy: closing a socket removes it. */
  #socketsOf(userUuid: string): readonly OpenSocket[] {
    return [...(this.#users.get(userUuid) ?? [])];
  }
}

const actorOf = (userUuid: string): Address => ({ kind: User.name, id: userUuid });
