/**
 * One socket of the sync lane, over which clients sync (docs/protocol/sockets.md, "The sync lane").
 *
 *     new --AUTH--> authenticating --> ready --> ending --> closed
 *      `--5 s--> ending                  `-- a frame that breaks the rules, the end of the session, a drain
 *
 * Invariants:
 * - Before `ready` the socket accepts only AUTH, and answers only AUTHENTICATED.
 * - COMMAND and STATUS are answered in the order in which they came. REAUTH does not wait for them, and PING is answered at once.
 *   So a slow command neither makes a socket look dead nor keeps it from new credentials.
 * - When the protocol ends a socket, the server sends one ERROR frame and closes. After that it neither sends nor reads.
 * - A command goes on after its socket has ended. The client learns the result from the journal, by STATUS over another socket.
 */
import type { Credentials } from '../../../actors/identity/session-tokens.ts';
import type { Registration, SessionWatch } from '../hub.ts';
import { bytesMax, InboundBudget, type LaneMemory } from './budget.ts';
import { type CommandAnswer, errorAnswer, type LaneCommands, tooLarge } from './commands.ts';
import {
  type ClientFrame,
  isIdentifier,
  isObject,
  laneFrameBytesMax,
  readFrame,
  type ServerFrameType,
  sequenceMax,
  writeFrame,
} from './envelope.ts';
import type { LaneMetrics } from './metrics.ts';
import { type SyncTicket, ticketCharacters } from './tickets.ts';

/** The parts of uWebSockets.js's `WebSocket` in use. */
export interface LaneWebSocket {
  send(text: string): number;
  end(code: number, reason: string): void;
  close(): void;
  getBufferedAmount(): number;
}

/** Codes of errors that end the socket. */
export const endCodes = [
  ...(['AUTH_TIMEOUT', 'AUTH_REQUIRED', 'AUTH_REJECTED', 'ALREADY_AUTHENTICATED', 'SYNC_DISABLED'] as const),
  ...(['SOCKET_LIMIT', 'OUT_OF_ORDER', 'SEQUENCE_EXHAUSTED', 'MALFORMED_JSON', 'INVALID_ENVELOPE'] as const),
  ...(['UNSUPPORTED_VERSION', 'INVALID_SEQUENCE', 'INVALID_PAYLOAD_LENGTH', 'INVALID_DIGEST'] as const),
  ...(['BACKPRESSURE', 'NOT_AUTHORIZED', 'REAUTH_REJECTED'] as const),
] as const;
export type EndCode = (typeof endCodes)[number];

const closeCodes = { goingAway: 1001, policy: 1008, tooLarge: 1009, tryLater: 1013 } as const;

/** Codes after which the client may reconnect and go on. All others report a fault of the client. */
const tryLater: ReadonlySet<EndCode> = new Set(['SYNC_DISABLED', 'SOCKET_LIMIT', 'BACKPRESSURE']);

export interface Redeemed extends Registration {
  readonly verdict: 'good' | 'spent' | 'gone' | 'stale';
}

/** What a socket needs from its lane. */
export interface LaneServices {
  readonly commands: LaneCommands;
  readonly metrics: LaneMetrics;
  readonly memory: LaneMemory;
  nowMs(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  isDraining(): boolean;
  verify(ticket: string, deviceId: string): SyncTicket | undefined;
  /** Runs `redeemed` when this socket may authenticate. Resolves to `refused` if too many sockets wait, or its turn comes too late. */
  handshake<T>(redeemed: () => Promise<T>, refused: T): Promise<T>;
  /** Uses up a ticket. From then on `gateway` gets the events of its session. @throws ActorError */
  redeem(ticket: SyncTicket, gateway?: string): Promise<Redeemed>;
  /** Takes one of the user's slots for sockets. False if none is free. */
  admit(socket: LaneSocket, userUuid: string): boolean;
  /** Calls back once the session has ended. */
  watch(credentials: Credentials, ended: () => void): SessionWatch;
  closed(socket: LaneSocket): void;
  failed(error: unknown): void;
}

const authMs = 5_000;
/** A little longer than the library waits for a client that does not read. Until then unread bytes count as memory. */
const lingerMs = 70_000;
/** An AUTH contains a ticket and a few names. The server parses nothing larger from a client that is not authenticated. */
const authBytesMax = 4 * 1_024;
const queuedFramesMax = 8;
/** The most bytes that a client may leave unread. A client on a fast line is easily a megabyte behind and still reads. */
const unreadBytesMax = 4 * 1_024 * 1_024;
const binaryBytesMax = 266_248;
const reauthAttemptsMax = 8;
/** Some clients search the reason for the words `rate limit`. */
const rateExceeded = 'sync rate limit exceeded';
const protocolIds = { requestId: 'protocol', commandId: 'protocol' } as const;

type SocketState = 'new' | 'authenticating' | 'ready' | 'ending' | 'closed';

export class LaneSocket {
  readonly #lane: LaneServices;
  readonly #budget: InboundBudget;
  #connection: LaneWebSocket | undefined;
  #state: SocketState = 'new';
  #credentials: Credentials | undefined;
  #deviceId = '';
  #received = 0;
  #sent = 0;
  #queued = 0;
  #queuedBytes = 0;
  #unread = 0;
  #reauthAttempts = 0;
  #work: Promise<void> | undefined;
  #reauth: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #unwatch: (() => void) | undefined;

  constructor(lane: LaneServices) {
    this.#lane = lane;
    this.#budget = new InboundBudget(lane.nowMs());
  }

  get isBusy(): boolean {
    return this.#queued > 0;
  }

  get userUuid(): string | undefined {
    return this.#credentials?.userUuid;
  }

  opened(connection: LaneWebSocket): void {
    this.#connection = connection;
    this.#cancelTimer = this.#lane.schedule(authMs, () => this.#end('AUTH_TIMEOUT'));
  }

  /** The library has dropped the connection, and using it now would throw. */
  closed(): void {
    this.#connection = undefined;
    this.#state = 'closed';
    this.#forgetTimer();
    this.#unwatch?.();
    // The library holds unread data until the client takes it, or is dropped for not reading.
    if (this.#unread > 0) this.#lane.schedule(lingerMs, () => this.#countUnread(0));
    this.#lane.closed(this);
  }

  /** Drops the reference, too: it would keep a quarter of a kilobyte for each of tens of thousands of sockets. */
  #forgetTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  drained(): void {
    this.#countUnread(this.#connection?.getBufferedAmount() ?? 0);
  }

  /**
   * The library has answered a WebSocket ping. Pings count as frames. Otherwise a client that does not read could have the library
   * queue answers without end.
   */
  pinged(): void {
    if (this.#isEnded) return;
    if (this.#budget.take(0, this.#lane.nowMs())) this.drained();
    else this.close(closeCodes.tryLater, rateExceeded);
  }

  received(bytes: ArrayBuffer, isBinary: boolean): void {
    if (this.#isEnded) return;
    const size = bytes.byteLength;
    if (size > (isBinary ? binaryBytesMax : laneFrameBytesMax)) {
      this.close(closeCodes.tooLarge, 'frame too large');
      return;
    }
    if (!this.#budget.take(size, this.#lane.nowMs())) {
      this.close(closeCodes.tryLater, rateExceeded);
      return;
    }
    if (this.#state !== 'ready' && size > authBytesMax) {
      this.#end('AUTH_REQUIRED');
      return;
    }
    if (isBinary) {
      this.#end('INVALID_ENVELOPE');
      return;
    }
    const frame = readFrame(Buffer.from(bytes).toString('utf8'));
    if (typeof frame === 'string') {
      this.#end(frame);
      return;
    }
    this.#checkOrder(frame, size);
  }

  /** Closes the socket once all accepted commands have answers. */
  async drain(): Promise<void> {
    await this.#work;
    this.close(closeCodes.goingAway, 'server shutting down');
  }

  close(code: number, reason: string): void {
    const connection = this.#connection;
    if (connection === undefined || this.#isEnded) return;
    this.#state = 'ending';
    this.#lane.metrics.closed(reason);
    // Both call `closed` at once. `end` would queue one more frame, for which a client that does not read has no memory left.
    if (this.#unread > 0 && this.#hasNoMemory) connection.close();
    else connection.end(code, reason);
  }

  get #hasNoMemory(): boolean {
    return this.#lane.memory.isFullFor(this.userUuid ?? '');
  }

  get #isEnded(): boolean {
    return this.#state === 'ending' || this.#state === 'closed';
  }

  #end(code: EndCode): void {
    const isRetryable = tryLater.has(code);
    const payload = JSON.stringify({ code, retryable: isRetryable });
    this.#write({ ...protocolIds, type: 'ERROR', payload });
    this.close(isRetryable ? closeCodes.tryLater : closeCodes.policy, code);
  }

  #checkOrder(frame: ClientFrame, size: number): void {
    const fault = this.#orderFaultOf(frame);
    if (fault !== undefined) {
      this.#end(fault);
      return;
    }
    this.#received += 1;
    this.#handle(frame, size);
  }

  #orderFaultOf({ type, sequence }: ClientFrame): EndCode | undefined {
    if (type === 'AUTH' && this.#state !== 'new') return 'ALREADY_AUTHENTICATED';
    if (type !== 'AUTH' && this.#state !== 'ready') return 'AUTH_REQUIRED';
    if (sequence !== this.#received) return 'OUT_OF_ORDER';
    return sequence >= sequenceMax ? 'SEQUENCE_EXHAUSTED' : undefined;
  }

  #handle(frame: ClientFrame, size: number): void {
    switch (frame.type) {
      case 'AUTH':
        void this.#authenticate(frame).catch((error) => this.#lane.failed(error));
        return;
      case 'PING':
        this.#answer(frame, { type: 'PONG', payload: '{}' });
        return;
      case 'REAUTH':
        this.#reauthenticateNext(frame);
        return;
      case 'COMMAND':
      case 'STATUS':
        this.#enqueue(frame, size);
        return;
      default:
        this.#answer(frame, errorAnswer('OPERATION_UNAVAILABLE'));
        return;
    }
  }

  async #authenticate(frame: ClientFrame): Promise<void> {
    const session = await this.#sessionOf(frame);
    if (this.#isEnded) return;
    if (typeof session === 'string') {
      this.#end(session);
      return;
    }
    this.#state = 'ready';
    this.#lane.metrics.opened();
    this.#answer(frame, { type: 'AUTHENTICATED', payload: authenticated });
  }

  /** The session that an AUTH proves, or the code that refuses it. */
  async #sessionOf(frame: ClientFrame): Promise<Credentials | EndCode> {
    const auth = readAuth(frame, ['ticket', 'deviceId', 'resumeSequence']);
    if (auth === undefined) return 'INVALID_ENVELOPE';
    const ticket = this.#lane.verify(auth.ticket, auth.deviceId);
    if (ticket === undefined) return 'AUTH_REJECTED';
    this.#state = 'authenticating';
    this.#forgetTimer();
    return this.#lane.handshake<Credentials | EndCode>(() => this.#admitted(ticket, auth), 'SYNC_DISABLED');
  }

  async #admitted(ticket: SyncTicket, { deviceId }: AuthRequest): Promise<Credentials | EndCode> {
    // If the socket has ended meanwhile, nothing would free its slot.
    if (this.#isEnded) return 'SYNC_DISABLED';
    const credentials = credentialsOf(ticket);
    this.#deviceId = deviceId;
    // Bytes that are unread so far were counted for nobody. From here on they count for the user.
    this.#countUnread(0);
    this.#credentials = credentials;
    this.drained();
    if (!this.#lane.admit(this, ticket.userUuid)) return 'SOCKET_LIMIT';
    const watch = this.#lane.watch(credentials, () => this.#end('NOT_AUTHORIZED'));
    this.#unwatch = watch.end;
    const redeemed = await this.#redeem(ticket, watch.gateway);
    if (redeemed === undefined) return 'SYNC_DISABLED';
    if (redeemed.verdict === 'spent' || redeemed.verdict === 'gone') return 'AUTH_REJECTED';
    if (!this.#isEnded) watch.registered(redeemed);
    return credentials;
  }

  /** Undefined if the actor could not be asked. */
  async #redeem(ticket: SyncTicket, gateway?: string): Promise<Redeemed | undefined> {
    try {
      return await this.#lane.redeem(ticket, gateway);
    } catch (error) {
      this.#lane.failed(error);
      return undefined;
    }
  }

  #reauthenticateNext(frame: ClientFrame): void {
    const auth = readAuth(frame, ['ticket', 'deviceId']);
    if (auth === undefined) {
      this.#end('INVALID_ENVELOPE');
      return;
    }
    this.#reauthAttempts += 1;
    if (this.#reauthAttempts > reauthAttemptsMax) {
      this.#end('REAUTH_REJECTED');
      return;
    }
    const ticket = this.#ownTicket(auth);
    if (ticket === undefined) {
      this.#end('REAUTH_REJECTED');
      return;
    }
    this.#reauth = (this.#reauth ?? Promise.resolve()).then(() => this.#reauthenticate(frame, ticket));
  }

  #ownTicket({ ticket: text, deviceId }: AuthRequest): SyncTicket | undefined {
    const ticket = this.#lane.verify(text, deviceId);
    if (ticket === undefined || deviceId !== this.#deviceId) return undefined;
    const { userUuid, identifier } = this.#credentials ?? {};
    return ticket.userUuid === userUuid && ticket.sessionUuid === identifier ? ticket : undefined;
  }

  async #reauthenticate(frame: ClientFrame, ticket: SyncTicket): Promise<void> {
    const verdict = (await this.#redeem(ticket))?.verdict;
    if (this.#isEnded) return;
    if (verdict === 'spent') {
      this.#end('REAUTH_REJECTED');
      return;
    }
    if (verdict === 'gone') {
      this.#end('NOT_AUTHORIZED');
      return;
    }
    if (verdict !== 'good') {
      this.#answer(frame, errorAnswer('SESSION_STALE'));
      return;
    }
    this.#credentials = credentialsOf(ticket);
    this.#answer(frame, { type: 'REAUTHENTICATED', payload: '{}' });
  }

  #enqueue(frame: ClientFrame, size: number): void {
    if (!isWellFormed(frame)) {
      this.#end('INVALID_ENVELOPE');
      return;
    }
    if (this.#lane.isDraining()) {
      this.close(closeCodes.tryLater, 'draining');
      return;
    }
    const isFull = this.#queued >= queuedFramesMax || this.#queuedBytes + size > bytesMax;
    if (isFull || this.#hasNoMemory) {
      this.#end('BACKPRESSURE');
      return;
    }
    this.#queued += 1;
    this.#queuedBytes += size;
    this.#countMemory(size);
    this.#work = (this.#work ?? Promise.resolve())
      .then(() => this.#run(frame))
      .catch((error) => this.#lane.failed(error))
      .finally(() => {
        this.#queued -= 1;
        this.#queuedBytes -= size;
        this.#countMemory(-size);
      });
  }

  async #run(frame: ClientFrame): Promise<void> {
    const credentials = this.#credentials;
    if (credentials === undefined || this.#isEnded) return;
    const { commands, metrics } = this.#lane;
    const accepted = () => this.#answer(frame, { type: 'ACCEPTED', payload: '{"status":"ACCEPTED"}' });
    const answer =
      frame.type === 'COMMAND'
        ? await commands.execute(frame, credentials, accepted)
        : await commands.status(frame, credentials);
    metrics.answered(frame.type, answer);
    this.#answer(frame, answer);
  }

  #answer(
    to: ClientFrame,
    { type, payload }: CommandAnswer | { readonly type: ServerFrameType; readonly payload: string },
  ): void {
    const digest = withDigest.has(type) ? to.digest : undefined;
    const { requestId, commandId } = to;
    this.#write({ type, requestId, commandId, payload, digest });
  }

  #write(frame: Omit<Parameters<typeof writeFrame>[0], 'sequence'>): void {
    const connection = this.#connection;
    if (connection === undefined || this.#isEnded) return;
    const text = writeFrame({ ...frame, sequence: this.#sent });
    const bytes = Buffer.byteLength(text);
    if (bytes > laneFrameBytesMax) {
      this.#write({ ...frame, ...tooLarge });
      return;
    }
    const isUnread = connection.getBufferedAmount() + bytes > unreadBytesMax || this.#hasNoMemory;
    if (isUnread && frame.type !== 'ERROR') {
      this.#end('BACKPRESSURE');
      return;
    }
    this.#sent += 1;
    connection.send(text);
    this.drained();
  }

  #countUnread(bytes: number): void {
    this.#countMemory(bytes - this.#unread);
    this.#unread = bytes;
  }

  #countMemory(bytes: number): void {
    this.#lane.memory.add(this.userUuid ?? '', bytes);
  }
}

const withDigest: ReadonlySet<string> = new Set(['ACCEPTED', 'COMMITTED', 'STATUS']);

const authenticated = JSON.stringify({
  capability: 'ws-sync',
  protocolVersion: 1,
  nextClientSequence: 1,
  operations: ['SYNC_ITEMS'],
});

const credentialsOf = ({ userUuid, sessionUuid, pair }: SyncTicket): Credentials => ({
  userUuid,
  style: 'lane',
  identifier: sessionUuid,
  secrets: [pair],
});

interface AuthRequest {
  readonly ticket: string;
  readonly deviceId: string;
}

function readAuth({ payload }: ClientFrame, allowed: readonly string[]): AuthRequest | undefined {
  const { ticket, deviceId, resumeSequence = 0 } = payload;
  if (!Object.keys(payload).every((key) => allowed.includes(key))) return undefined;
  if (typeof ticket !== 'string' || !isIdentifier(deviceId)) return undefined;
  if (ticket.length < ticketCharacters.min || ticket.length > ticketCharacters.max) return undefined;
  const isSequence =
    Number.isInteger(resumeSequence) && Number(resumeSequence) >= 0 && Number(resumeSequence) <= sequenceMax;
  return isSequence ? { ticket, deviceId } : undefined;
}

function isWellFormed({ type, payload }: ClientFrame): boolean {
  const keys = Object.keys(payload);
  if (type === 'STATUS') return keys.length === 0;
  return keys.length === 2 && payload['command'] === 'SYNC_ITEMS' && isObject(payload['body']);
}
