/**
 * A client of the sync lane (docs/protocol/sockets.md, "The sync lane"), to copy. It needs nothing but the language, timers and
 * WebCrypto, so it runs in Node, in a browser's page or worker, and bundled in k6.
 *
 *     closed --run--> connecting --ticket, dial--> authenticating --AUTHENTICATED--> ready
 *       ^                 |                             |                              |
 *       |                 '---- refused, or three redials failed ----> resting         |
 *       |                                                                 |            |
 *       '---------------------- after a minute ---------------------------'            |
 *       '---------------------- the socket is gone ------------------------------------'
 *     http-only: the session has ended, or an administrator has switched the lane off for the account
 *
 * Invariants:
 * - A command has one id and one digest, over the lane and over HTTP, so the server carries it out once however often it comes.
 * - A command that may have reached the server over a socket that is gone is asked about by STATUS first.
 * - Whatever the lane does not answer, HTTP does. While the lane is not there, the client syncs as if it had never existed.
 *
 * Crash: the application stores `id` and `body` before it calls `run`, and deletes them once it has stored the answer. After
 * a crash, or when `run` rejects because no server answers, it calls `run` again with the same `id` and `body` and `wasSent`.
 */

declare const crypto: { readonly subtle: { digest(name: string, bytes: Uint8Array): Promise<ArrayBuffer> } };
declare function setTimeout(callback: () => void, delayMs: number): unknown;
declare function clearTimeout(timer: unknown): void;

// biome-ignore lint/suspicious/noExplicitAny: JSON of the server
type Json = Record<string, any>;

/** What the client needs of its surroundings. */
export interface LaneEnvironment {
  /** Sends a request with the tokens that the session has now. Rejects when no server answers. */
  request(request: LaneRequest): Promise<LaneResponse>;
  /** Gets new tokens for the session. False: there are none. */
  refresh?(): Promise<boolean>;
  /** Opens a WebSocket to this path of the server. Its events come later, never during the call. */
  dial(path: string, events: LaneEvents): LaneConnection;
  /** Calls back once after this time. What it returns cancels that. */
  schedule?(delayMs: number, callback: () => void): () => void;
  /** From 0 to 1. */
  random?(): number;
}

export interface LaneRequest {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface LaneResponse {
  readonly status: number;
  /** The body as JSON; anything else where it is none. */
  readonly body: unknown;
  readonly retryAfterSeconds?: number | undefined;
}

export interface LaneEvents {
  opened(): void;
  received(text: string): void;
  closed(): void;
}

export interface LaneConnection {
  send(text: string): void;
  close(code: number, reason: string): void;
}

export interface LaneCommand {
  readonly id: string;
  /** The body of `POST /v1/items`. */
  readonly body: object;
  /** The command may have been sent by an earlier run of the application. */
  readonly wasSent?: boolean;
}

/** What `POST /v1/items` would have answered. */
export interface LaneAnswer {
  readonly status: number;
  readonly data: Json;
  readonly by: 'lane' | 'http';
}

export type LaneState = 'closed' | 'connecting' | 'authenticating' | 'ready' | 'resting' | 'http-only';

const authMs = 7_000;
const answerMs = 20_000;
const pingMs = 30_000;
const pongMs = 60_000;
const reauthMs = 10_000;
const reauthsMax = 4;
const restMs = 60_000;
/** A socket that lives shorter than this counts as a failed handshake. */
const steadyMs = 10_000;
const earlyEndsMax = 3;
const redialsMax = 3;
const redialMaxMs = 5_000;
/** How often one command is sent or asked about over the lane before HTTP finishes it. */
const attemptsMax = 6;
/** The server holds a command for half a minute. */
const pendingMax = 40;
const retryMs = 1_000;
const frameBytesMax = 524_288;
/** More than everything in a frame but its payload. */
const headBytesMax = 1_024;
const closeCodes = { normal: 1000, silent: 4000 } as const;

// --- frames -------------------------------------------------------------------------------------------------

export interface LaneFrame {
  readonly version: number;
  readonly channel: string;
  readonly type: string;
  readonly requestId: string;
  readonly commandId: string;
  readonly sequence: number;
  readonly payloadLength: number;
  // biome-ignore lint/suspicious/noExplicitAny: of any type of frame
  readonly payload: any;
  readonly digest?: string;
}

/** Sorted by UTF-16 code unit, as JavaScript compares strings. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields).filter((name) => fields[name] !== undefined);
  const members = names.sort().map((name) => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`);
  return `{${members.join(',')}}`;
}

export async function digestOf(body: object): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', utf8(canonicalJson(body)));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** By hand, as k6 has no `TextEncoder`. */
export function utf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const point = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(point));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), tail(point >> 6), tail(point));
    else bytes.push(0xf0 | (point >> 18), tail(point >> 12), tail(point >> 6), tail(point));
  }
  return Uint8Array.from(bytes);
}

const tail = (bits: number): number => 0x80 | (bits & 0x3f);

/** Counted without encoding: a page of notes has hundreds of thousands of characters, and engines such as k6's are slow. */
function jsonBytes(value: object): number {
  const text = JSON.stringify(value);
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // A pair of surrogates has four bytes. JSON has none that stands alone.
    if (code >= 0x80) bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Numbers and measures the frames that one socket sends, and reads those that it receives. */
export class LaneFrames {
  #sequence = 0;
  #requests = 0;

  /** `more` stands over what a frame has by itself. */
  make(type: string, payload: object, more: Partial<LaneFrame> = {}): LaneFrame {
    this.#requests += 1;
    const id = `request-${this.#requests}`;
    const frame = {
      version: 1,
      channel: 'sync',
      type,
      requestId: id,
      commandId: id,
      sequence: this.#sequence,
      payloadLength: jsonBytes(payload),
      payload,
      ...more,
    };
    this.#sequence += 1;
    return frame;
  }

  /** Where the server wants the numbers to go on. */
  continueAt(sequence: number): void {
    this.#sequence = sequence;
  }

  /** @throws Error when it is no frame, or has been altered on its way */
  read(text: string): LaneFrame {
    const frame = JSON.parse(text) as LaneFrame;
    if (frame.version !== 1 || frame.channel !== 'sync' || !isObject(frame.payload))
      throw new Error('what came is no frame of the sync lane');
    if (jsonBytes(frame.payload) !== frame.payloadLength)
      throw new Error(`the payload of ${frame.type} has another length than the frame says`);
    return frame;
  }
}

// --- one socket -----------------------------------------------------------------------------------------------

interface Question {
  readonly digest: string | undefined;
  readonly answered: (frame: LaneFrame | undefined) => void;
  readonly prolonged: () => void;
}

interface Request {
  readonly type: string;
  readonly payload: object;
  readonly withinMs: number;
  readonly commandId?: string;
  readonly digest?: string;
}

type Schedule = NonNullable<LaneEnvironment['schedule']>;

/** Hands each answer to the question that it belongs to. */
class LaneSocket {
  /** True once the socket is open, false when it ends before that. */
  readonly opened: Promise<boolean>;
  reauths = 0;
  /** The code of the ERROR frame by which the server ends a socket. */
  endedBy: string | undefined;
  readonly #frames = new LaneFrames();
  readonly #questions = new Map<string, Question>();
  readonly #connection: LaneConnection;
  readonly #schedule: Schedule;
  readonly #ended: () => void;
  #isClosed = false;
  #settle = (_isOpen: boolean) => {};

  constructor(environment: LaneEnvironment, path: string, schedule: Schedule, ended: () => void) {
    this.#schedule = schedule;
    this.#ended = ended;
    this.opened = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#connection = environment.dial(path, {
      opened: () => this.#settle(true),
      received: (text) => this.#received(text),
      closed: () => this.#closed(),
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  continueAt(sequence: number): void {
    this.#frames.continueAt(sequence);
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#connection.close(code, reason);
    this.#closed();
  }

  /** The answer; undefined when the socket has ended without one. Silence ends the socket. */
  ask({ type, payload, withinMs, commandId, digest }: Request): Promise<LaneFrame | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    const frame = this.#frames.make(type, payload, {
      ...(commandId !== undefined && { commandId }),
      ...(digest !== undefined && { digest }),
    });
    return new Promise((resolve) => {
      const silent = () => this.close(closeCodes.silent, 'no answer');
      let cancel = this.#schedule(withinMs, silent);
      this.#questions.set(frame.requestId, {
        digest,
        prolonged: () => {
          cancel();
          cancel = this.#schedule(withinMs, silent);
        },
        answered: (answer) => {
          cancel();
          this.#questions.delete(frame.requestId);
          resolve(answer);
        },
      });
      this.#connection.send(JSON.stringify(frame));
    });
  }

  #received(text: string): void {
    if (this.#isClosed) return;
    const frame = this.#read(text);
    if (frame === undefined) {
      this.close(closeCodes.silent, 'damaged frame');
      return;
    }
    if (frame.requestId === 'protocol') this.endedBy = frame.payload['code'];
    const question = this.#questions.get(frame.requestId);
    if (frame.digest !== undefined && frame.digest !== question?.digest) return;
    if (frame.type === 'ACCEPTED') question?.prolonged();
    else question?.answered(frame);
  }

  #read(text: string): LaneFrame | undefined {
    try {
      return this.#frames.read(text);
    } catch {
      return undefined;
    }
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#settle(false);
    for (const { answered } of [...this.#questions.values()]) answered(undefined);
    this.#ended();
  }
}

// --- the client -------------------------------------------------------------------------------------------------

interface NamedCommand extends LaneCommand {
  readonly digest: string;
}

/** What is to be done about a command: it is answered, or is sent, asked about, or finished over HTTP. */
type Next = LaneAnswer | 'command' | 'status' | 'http';

/** The client of one session. */
export class SyncLaneClient {
  readonly #environment: LaneEnvironment;
  readonly #deviceId: string;
  readonly #schedule: Schedule;
  #state: LaneState = 'closed';
  #socket: LaneSocket | undefined;
  #entering: Promise<LaneSocket | undefined> | undefined;
  /** Commands go one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #earlyEnds = 0;
  readonly #timers = new Map<'ping' | 'steady' | 'rest', () => void>();

  /** `deviceId`: 1 to 128 characters, a letter or digit and then letters, digits and `._:-`. */
  constructor(environment: LaneEnvironment, deviceId: string) {
    this.#environment = environment;
    this.#deviceId = deviceId;
    this.#schedule = (delayMs, callback) =>
      environment.schedule?.(delayMs, callback) ?? scheduleByTimers(delayMs, callback);
  }

  get state(): LaneState {
    return this.#state;
  }

  /** Opens the lane before it is needed. False: it is not there at the moment. */
  async connect(): Promise<boolean> {
    return (await this.#enter()) !== undefined;
  }

  /** Ends the socket. The next command opens another one. */
  close(): void {
    this.#socket?.close(closeCodes.normal, 'done');
    for (const cancel of this.#timers.values()) cancel();
    if (this.#state === 'resting') this.#state = 'closed';
  }

  /**
   * The answer of a command that has taken effect once, or was refused. @throws Error when no server answers: the outcome of the
   * command is not known
   */
  run(command: LaneCommand): Promise<LaneAnswer> {
    const answer = this.#last.then(() => this.#run(command));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #run(command: LaneCommand): Promise<LaneAnswer> {
    const named = { ...command, digest: await digestOf(command.body) };
    const answer = await this.#overLane(named);
    return answer ?? this.#overHttp(named);
  }

  /** Undefined: HTTP has to finish the command. */
  async #overLane(command: NamedCommand): Promise<LaneAnswer | undefined> {
    if (jsonBytes(command.body) + headBytesMax > frameBytesMax) return undefined;
    let next: Next = command.wasSent === true ? 'status' : 'command';
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const socket = await this.#enter();
      if (socket === undefined) return undefined;
      const frame = await socket.ask(next === 'command' ? commandOf(command) : statusOf(command));
      next = frame === undefined ? 'status' : await this.#judge(frame, socket, attempt);
      if (next === 'http') return undefined;
      if (typeof next === 'object') return next;
    }
    return undefined;
  }

  async #judge({ type, payload }: LaneFrame, socket: LaneSocket, attempt: number): Promise<Next> {
    if (type !== 'ERROR') {
      const isThere = payload['status'] === 'COMMITTED' && isObject(payload['result']);
      // A command that is being carried out is waited for over HTTP, and one that never came is sent there.
      return isThere ? answerOf(payload['result']) : 'http';
    }
    switch (payload['code']) {
      case 'BUSY':
        await this.#pause(attempt * retryMs);
        return 'command';
      case 'BACKEND_TIMEOUT':
        await this.#pause(attempt * retryMs);
        return 'status';
      case 'SESSION_STALE':
        return (await this.#reauthenticate(socket)) ? 'status' : 'http';
      case 'LIVE_SYNC_DISABLED':
        this.#leaveForGood();
        return 'http';
      default:
        // HTTP says what is wrong in words.
        return 'http';
    }
  }

  async #overHttp({ id, digest, body }: NamedCommand): Promise<LaneAnswer> {
    const headers = { 'x-sync-command-id': id, 'x-sync-command-digest': digest };
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#request('/v1/items', body, headers);
      const json = isObject(response.body) ? response.body : {};
      const data = isObject(json['data']) ? json['data'] : json;
      if (data['error']?.tag !== 'sync_command_pending' || attempt === pendingMax)
        return { status: response.status, data, by: 'http' };
      await this.#pause((response.retryAfterSeconds ?? 1) * 1_000);
    }
  }

  /** With new tokens where the server asks for them. */
  async #request(path: string, body: object, headers: Record<string, string> = {}): Promise<LaneResponse> {
    const send = () => this.#environment.request({ method: 'POST', path, headers, body });
    const response = await send();
    const isStale = response.status === 401 || response.status === 498;
    return isStale && (await this.#environment.refresh?.()) === true ? send() : response;
  }

  // --- opening ------------------------------------------------------------------------------------------------

  /** An open socket. Undefined: there is none for now. */
  #enter(): Promise<LaneSocket | undefined> {
    if (this.#state === 'ready') return Promise.resolve(this.#socket);
    if (this.#state === 'resting' || this.#state === 'http-only') return Promise.resolve(undefined);
    this.#entering ??= this.#dialUntilOpen().finally(() => {
      this.#entering = undefined;
    });
    return this.#entering;
  }

  async #dialUntilOpen(): Promise<LaneSocket | undefined> {
    for (let redial = 0; redial <= redialsMax; redial += 1) {
      if (redial > 0) await this.#pause(this.#redialMs(redial));
      const socket = await this.#dial();
      if (socket !== undefined) return socket;
      if (this.#state === 'resting' || this.#state === 'http-only') return undefined;
    }
    this.#rest(restMs);
    return undefined;
  }

  /** In the upper half of a window that doubles. */
  #redialMs(redial: number): number {
    const windowMs = Math.min(redialMaxMs, retryMs * 2 ** (redial - 1));
    return windowMs * (0.5 + 0.5 * (this.#environment.random?.() ?? Math.random()));
  }

  async #dial(): Promise<LaneSocket | undefined> {
    this.#state = 'connecting';
    const ticket = await this.#ticket();
    if (ticket === undefined) return undefined;
    const socket = new LaneSocket(this.#environment, ticket.endpoint, this.#schedule, () =>
      this.#ended(socket),
    );
    this.#socket = socket;
    if (!(await socket.opened)) return undefined;
    this.#state = 'authenticating';
    const payload = { ticket: ticket.ticket, deviceId: this.#deviceId };
    const answer = await socket.ask({ type: 'AUTH', payload, withinMs: authMs });
    const { protocolVersion, operations, nextClientSequence } = answer?.payload ?? {};
    const isOffered = protocolVersion === 1 && operations?.includes?.('SYNC_ITEMS') === true;
    if (answer?.type !== 'AUTHENTICATED' || !isOffered) {
      socket.close(closeCodes.normal, 'not let in');
      return undefined;
    }
    socket.continueAt(nextClientSequence);
    this.#state = 'ready';
    this.#later('steady', steadyMs, () => {
      this.#earlyEnds = 0;
    });
    this.#pingLater(socket);
    return socket;
  }

  async #ticket(): Promise<{ readonly ticket: string; readonly endpoint: string } | undefined> {
    const response = await this.#request('/v1/sockets/sync/ticket', { deviceId: this.#deviceId }).catch(
      () => undefined,
    );
    const { ticket, endpoint } = isObject(response?.body) ? response.body : {};
    if (typeof ticket === 'string' && typeof endpoint === 'string') return { ticket, endpoint };
    this.#rest((response?.retryAfterSeconds ?? restMs / 1_000) * 1_000);
    return undefined;
  }

  /** New credentials for an open socket. */
  async #reauthenticate(socket: LaneSocket): Promise<boolean> {
    socket.reauths += 1;
    if (socket.reauths > reauthsMax) return false;
    const body = { deviceId: this.#deviceId };
    const response = await this.#request('/v1/sockets/sync/ticket', body).catch(() => undefined);
    const { ticket } = isObject(response?.body) ? response.body : {};
    if (typeof ticket !== 'string') return false;
    const payload = { ticket, deviceId: this.#deviceId };
    const answer = await socket.ask({ type: 'REAUTH', payload, withinMs: reauthMs });
    return answer?.type === 'REAUTHENTICATED';
  }

  // --- ending -------------------------------------------------------------------------------------------------

  #pingLater(socket: LaneSocket): void {
    this.#later('ping', pingMs, () => {
      void socket.ask({ type: 'PING', payload: {}, withinMs: pongMs });
      this.#pingLater(socket);
    });
  }

  #ended(socket: LaneSocket): void {
    if (this.#socket !== socket) return;
    const wasReady = this.#state === 'ready';
    this.#socket = undefined;
    this.#timers.get('ping')?.();
    this.#timers.get('steady')?.();
    if (socket.endedBy === 'NOT_AUTHORIZED') {
      this.#leaveForGood();
      return;
    }
    if (this.#state !== 'http-only') this.#state = 'closed';
    if (!wasReady) return;
    this.#earlyEnds += 1;
    if (this.#earlyEnds >= earlyEndsMax) this.#rest(restMs);
  }

  #rest(forMs: number): void {
    if (this.#state === 'http-only') return;
    this.#earlyEnds = 0;
    this.#state = 'resting';
    this.#later('rest', forMs, () => {
      if (this.#state === 'resting') this.#state = 'closed';
    });
  }

  #leaveForGood(): void {
    this.#state = 'http-only';
    this.#socket?.close(closeCodes.normal, 'lane not for this session');
  }

  #later(what: 'ping' | 'steady' | 'rest', delayMs: number, callback: () => void): void {
    this.#timers.get(what)?.();
    this.#timers.set(what, this.#schedule(delayMs, callback));
  }

  #pause(forMs: number): Promise<void> {
    return new Promise((resolve) => void this.#schedule(forMs, resolve));
  }
}

const commandOf = ({ id, digest, body }: NamedCommand): Request => ({
  type: 'COMMAND',
  payload: { command: 'SYNC_ITEMS', body },
  commandId: id,
  digest,
  withinMs: answerMs,
});

const statusOf = ({ id, digest }: NamedCommand): Request => ({
  type: 'STATUS',
  payload: {},
  commandId: id,
  digest,
  withinMs: answerMs,
});

/** A refusal comes as an answer of HTTP: `status` and `data`. */
const answerOf = (result: Json): LaneAnswer =>
  typeof result['status'] === 'number' && isObject(result['data'])
    ? { status: result['status'], data: result['data'], by: 'lane' }
    : { status: 200, data: result, by: 'lane' };

const scheduleByTimers: Schedule = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};
