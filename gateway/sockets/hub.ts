/**
 * The sockets of this process by user, and the events that reach them.
 *
 * A socket is here from before the check of its session until it is closed. So it misses nothing that happens
 * meanwhile, such as the end of its session or the move of a shard. One ask at the user's actor checks the session
 * and subscribes this gateway to the actor. The hub repeats it after anything that may have lost an event. Then it
 * closes the sockets of ended sessions and tells the others to sync.
 *
 * Before a socket opens, the hub subscribes to the user's vaults, as far as they answer soon: an open socket hears
 * everything that happens later. If a vault answers after that, the user is told to sync.
 *
 * The same subscription reports the end of their session to long-running requests.
 */

import { type FrameEvent, itemsChanged, User, userEventSchema } from '../../actors/user/contract.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { Vault, type VaultItemsChanged, vaultEventSchema } from '../../actors/vault/contract.ts';
import type { Address } from '../../runtime/address.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Subscribe, SubscribedActors } from '../../runtime/events.ts';
import { type FairShare, mayTakeOneMore } from '../../runtime/fair-share.ts';
import { type Actors, unlessAbsent } from '../../runtime/handles.ts';
import type { Random } from '../../runtime/random.ts';
import type { GatewaySettings } from '../settings.ts';
import { Audiences } from './audiences.ts';
import { Broadcasts } from './broadcasts.ts';
import type { SocketMetrics } from './metrics.ts';
import { closeCodes, type OpenSocket } from './open-socket.ts';
import type { SocketClaims } from './tokens.ts';
import { VaultNotices } from './vault-notices.ts';

export interface HubOptions {
  readonly actors: Actors;
  readonly subscribe: Subscribe;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: SocketMetrics;
  readonly limits: Pick<GatewaySettings['sockets'], 'socketsMax' | 'socketsPerUserMax' | 'membershipsMax'>;
  /** Runs its argument in the next turn of the event loop; `setImmediate` by default. */
  readonly defer?: (work: () => void) => void;
}

/** All devices of a person, and more while there is capacity. */
const socketShare: FairShare = { least: 8, percentOfFree: 3 };
/** If it takes longer, the client connects again, and the registration is repeated. */
const askMs = 5_000;
/** A socket waits no longer than this for the user's vaults. */
const joinWaitMs = 1_000;
/** How long to wait, so that many vaults of a failed host are repaired together. */
const repairDelayMs = 250;
/** Closing all sockets takes at least this long for each, as most clients connect again at once. */
const closeIntervalMs = 1;
const closeTickMs = 50;

interface SocketAccess {
  readonly living: readonly string[];
  readonly host?: string | undefined;
  readonly vaults?: Readonly<Record<string, number>> | undefined;
  readonly endsInMs?: number | undefined;
}

/** What the user's actor answered when it subscribed this gateway. A host of an earlier release may not have done so. */
export type Registration = Pick<SocketAccess, 'host' | 'endsInMs'>;

/** A watch on a session, for a caller that is about to ask the user's actor. */
export interface SessionWatch {
  /** That question asks the actor to subscribe this gateway. */
  readonly gateway: string;
  /** The actor has answered, and the session lives. */
  registered(by: Registration): void;
  end(): void;
}

interface Watch {
  readonly sessionUuid: string;
  readonly ended: () => void;
}

export class Hub {
  readonly #options: HubOptions;
  readonly #subscriptions: SubscribedActors;
  /** Names one run of one process. */
  readonly #gateway: string;
  readonly #users = new Map<string, Set<OpenSocket>>();
  /** Keyed by user. */
  readonly #watches = new Map<string, Set<Watch>>();
  readonly #audiences: Audiences;
  readonly #vaultNotices: VaultNotices;
  readonly #broadcasts: Broadcasts;
  /** Users who may have missed an event of a vault, and are notified in a moment. */
  readonly #behind = new Set<string>();
  #cancelNotifyBehind: (() => void) | undefined;
  #size = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#gateway = options.random.uuid();
    this.#subscriptions = options.subscribe({
      metrics: options.metrics,
      gateway: this.#gateway,
      register: ({ kind, id }, actors) =>
        kind === Vault.name ? this.#audiences.register(id, actors) : this.#register(id, actors),
      event: ({ kind, id }, event, isBehind) =>
        kind === Vault.name ? this.#vaultEvent(id, event, isBehind) : this.#event(id, event, isBehind),
      repaired: ({ kind, id }) => (kind === Vault.name ? this.#vaultRepaired(id) : this.#notifyToSync(id)),
    });
    this.#audiences = new Audiences({
      actors: options.actors,
      metrics: options.metrics,
      gateway: this.#gateway,
      subscriptions: this.#subscriptions,
      membershipsMax: options.limits.membershipsMax,
    });
    this.#broadcasts = new Broadcasts(options.defer);
    this.#vaultNotices = new VaultNotices(options.clock, (vaultUuid, change, done) =>
      this.#broadcasts.start(this.#notifyMembers(vaultUuid, change), done),
    );
  }

  /** Sockets, including those that are still opening. */
  get size(): number {
    return this.#size;
  }

  get users(): number {
    return this.#users.size;
  }

  /** Vaults whose members have sockets here. */
  get vaults(): number {
    return this.#audiences.vaults;
  }

  /** Users and vaults waiting to be registered again. */
  get waiting(): number {
    return this.#subscriptions.waiting;
  }

  stop(): void {
    this.#cancelNotifyBehind?.();
    this.#vaultNotices.stop();
    this.#broadcasts.stop();
    this.#subscriptions.stop();
  }

  /** Adds a socket, to be checked next. */
  add(socket: OpenSocket): 'added' | 'full' | 'full-for-user' {
    const { limits } = this.#options;
    const { userUuid } = socket;
    if (this.#size >= limits.socketsMax) return 'full';
    const sockets = this.#users.get(userUuid) ?? new Set();
    const hasShare = mayTakeOneMore(sockets.size, limits.socketsMax - this.#size, socketShare);
    if (sockets.size >= limits.socketsPerUserMax || !hasShare) return 'full-for-user';
    sockets.add(socket);
    this.#users.set(userUuid, sockets);
    this.#size += 1;
    this.#subscriptions.add(actorOf(userUuid));
    return 'added';
  }

  /** Whether the session of an added socket lives, and its user is subscribed to. @throws ActorError */
  async check(socket: OpenSocket): Promise<boolean> {
    const { userUuid, sessionUuid } = socket;
    const { living, host, vaults } = await this.#ask(userUuid, [sessionUuid]);
    if (host !== undefined) this.#subscriptions.registered(actorOf(userUuid), host);
    if (vaults !== undefined) await this.#withinJoinWait(this.#join(userUuid, vaults));
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
    this.#audiences.leave(userUuid);
    this.#behind.delete(userUuid);
    this.#unsubscribe(userUuid);
  }

  /** Calls `ended` once the session has ended, or is found to have ended. The function it returns ends the watch. */
  watch(claims: SocketClaims, ended: () => void): () => void {
    const { end } = this.#addWatch(claims, ended);
    this.#registerWatch(claims);
    return end;
  }

  /**
   * The same without a question of its own. The watch begins before the caller asks, so it misses nothing that happens after
   * the answer.
   */
  watchWhileAsking(claims: SocketClaims, ended: () => void): SessionWatch {
    const actor = actorOf(claims.userUuid);
    return {
      ...this.#addWatch(claims, ended),
      gateway: this.#gateway,
      registered: ({ host, endsInMs }) => {
        if (host === undefined) return this.#registerWatch(claims);
        if (endsInMs !== undefined) this.#subscriptions.endsWithin(actor, endsInMs);
        this.#subscriptions.registered(actor, host);
      },
    };
  }

  #addWatch({ userUuid, sessionUuid }: SocketClaims, ended: () => void): Pick<SessionWatch, 'end'> {
    const watch = { sessionUuid, ended };
    const watches = this.#watches.get(userUuid) ?? new Set();
    this.#watches.set(userUuid, watches.add(watch));
    this.#subscriptions.add(actorOf(userUuid));
    const end = () => {
      watches.delete(watch);
      if (watches.size > 0 || this.#watches.get(userUuid) !== watches) return;
      this.#watches.delete(userUuid);
      this.#unsubscribe(userUuid);
    };
    return { end };
  }

  #registerWatch({ userUuid, sessionUuid }: SocketClaims): void {
    this.#ask(userUuid, [sessionUuid]).then(
      ({ living, host }) => {
        if (host !== undefined) this.#subscriptions.registered(actorOf(userUuid), host);
        if (!living.includes(sessionUuid)) this.#closeSessions(userUuid, new Set([sessionUuid]));
      },
      (error) => this.#subscriptions.failed(actorOf(userUuid), error),
    );
  }

  /**
   * Closes each socket after a random part of a time that grows with their number. So the clients do not all dial again at once.
   */
  async closeAll(withinMs: number): Promise<void> {
    const { clock, random } = this.#options;
    const spreadMs = Math.min(withinMs, this.#size * closeIntervalMs);
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

  #unsubscribe(userUuid: string): void {
    if (this.#users.has(userUuid) || this.#watches.has(userUuid)) return;
    this.#subscriptions.remove(actorOf(userUuid));
  }

  async #ask(
    userUuid: string,
    sessions: readonly string[],
    actors: Actors = this.#options.actors,
  ): Promise<SocketAccess> {
    const { ask } = actors.get(Sessions, userUuid);
    const answer = ask.openSocket({ gateway: this.#gateway, sessions }, { deadlineMs: askMs });
    const opened = await unlessAbsent(answer);
    // The account was deleted.
    if (opened === undefined) return { living: [] };
    const { endsInMs } = opened;
    if (endsInMs !== undefined) this.#subscriptions.endsWithin(actorOf(userUuid), endsInMs);
    return opened;
  }

  async #register(userUuid: string, actors: Actors): Promise<string | undefined> {
    const sessionUuids = new Set<string>();
    for (const { sessionUuid } of this.#users.get(userUuid) ?? []) sessionUuids.add(sessionUuid);
    for (const { sessionUuid } of this.#watches.get(userUuid) ?? []) sessionUuids.add(sessionUuid);
    const { living, host, vaults } = await this.#ask(userUuid, [...sessionUuids], actors);
    for (const session of living) sessionUuids.delete(session);
    this.#closeSessions(userUuid, sessionUuids);
    void this.#join(userUuid, vaults ?? {});
    return host;
  }

  /** From then on the user gets the events of these vaults. The user's next sync returns everything from before. */
  async #join(userUuid: string, vaults: Readonly<Record<string, number>>): Promise<void> {
    if (!this.#users.has(userUuid)) return;
    if (await this.#audiences.join(userUuid, vaults)) this.#notifyToSync(userUuid);
  }

  /** Resolves with the work, or when that takes too long. */
  async #withinJoinWait(work: Promise<void>): Promise<void> {
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.clock.schedule(joinWaitMs, resolve);
    });
    await Promise.race([work, late]);
    cancel();
  }

  /** If an event was lost before, the end of a permission still counts, but a notification does not. */
  #event(userUuid: string, event: unknown, isBehind: boolean): void {
    // A newer release may publish events that this one does not know.
    const { data } = userEventSchema.safeParse(event);
    if (data?.event === 'frame' && !isBehind) this.#send(userUuid, data);
    if (data?.event === 'sessions-ended') this.#closeSessions(userUuid, new Set(data.sessions));
    if (data?.event === 'vault-joined') void this.#join(userUuid, { [data.vaultUuid]: data.membership });
  }

  #vaultEvent(vaultUuid: string, event: unknown, isBehind: boolean): void {
    const { data } = vaultEventSchema.safeParse(event);
    if (data?.event === 'items-changed' && !isBehind) this.#vaultNotices.changed(vaultUuid, data);
    if (data?.event === 'member-removed') this.#audiences.removed(vaultUuid, data.userUuid, data.membership);
  }

  /**
   * Sends one text to thousands of sockets. It goes to those who are members at its start and still are when their turn comes.
   * The saver's session gets nothing.
   */
  *#notifyMembers(vaultUuid: string, { by, session, timestamp }: VaultItemsChanged): Iterator<number, void> {
    const text = this.#textOf(by ?? vaultUuid, itemsChanged(by ?? vaultUuid, timestamp));
    for (const userUuid of [...this.#audiences.admittedTo(vaultUuid)]) {
      if (!this.#audiences.isAdmitted(vaultUuid, userUuid)) continue;
      if (userUuid !== by) yield this.#sendText(userUuid, text);
      else if (session !== undefined) yield this.#send(userUuid, itemsChanged(userUuid, timestamp, session));
    }
  }

  #vaultRepaired(vaultUuid: string): void {
    for (const userUuid of this.#audiences.admittedTo(vaultUuid)) this.#behind.add(userUuid);
    if (this.#behind.size === 0) return;
    this.#cancelNotifyBehind ??= this.#options.clock.schedule(repairDelayMs, () => {
      this.#cancelNotifyBehind = undefined;
      this.#broadcasts.start(this.#notifyBehind());
    });
  }

  *#notifyBehind(): Iterator<number, void> {
    const behind = [...this.#behind];
    this.#behind.clear();
    for (const userUuid of behind) yield this.#notifyToSync(userUuid);
  }

  #notifyToSync(userUuid: string): number {
    return this.#send(userUuid, itemsChanged(userUuid, this.#options.clock.nowMicros()));
  }

  /** Returns the number of sockets it was sent to. */
  #send(userUuid: string, frame: FrameEvent): number {
    return this.#sendText(userUuid, this.#textOf(userUuid, frame), frame.exceptSession);
  }

  #textOf(userUuid: string, frame: FrameEvent): string {
    return frameText(userUuid, frame, this.#options.clock.nowMs());
  }

  #sendText(userUuid: string, text: string, exceptSession?: string): number {
    let sent = 0;
    for (const socket of this.#socketsOf(userUuid)) {
      if (socket.sessionUuid !== exceptSession && socket.send(text)) sent += 1;
    }
    this.#options.metrics.sent(sent);
    return sent;
  }

  #closeSessions(userUuid: string, sessions: ReadonlySet<string>): void {
    for (const socket of this.#socketsOf(userUuid)) {
      if (sessions.has(socket.sessionUuid)) socket.end('session-ended', closeCodes.sessionEnded);
    }
    for (const { sessionUuid, ended } of [...(this.#watches.get(userUuid) ?? [])]) {
      if (sessions.has(sessionUuid)) ended();
    }
  }

  /** A copy, because closing a socket removes it. */
  #socketsOf(userUuid: string): readonly OpenSocket[] {
    return [...(this.#users.get(userUuid) ?? [])];
  }
}

const actorOf = (userUuid: string): Address => ({ kind: User.name, id: userUuid });

/**
 * The text of a frame for clients (docs/protocol/sockets.md, "Frames"). They parse every frame as JSON without
 * catching errors.
 */
function frameText(userUuid: string, { type, origin, payload, isFlat }: FrameEvent, nowMs: number): string {
  if (isFlat) return JSON.stringify({ type, ...payload });
  return JSON.stringify({
    type,
    createdAt: new Date(nowMs).toISOString(),
    meta: { correlation: { userIdentifier: userUuid, userIdentifierType: 'uuid' }, origin },
    payload,
  });
}
