/**
 * Syncs a device over the lane, as clients do (docs/protocol/sockets.md, "The sync lane"): each sync is a named
 * command, over the lane or over HTTP. If its fate is unknown, the device asks about it, or sends it again under its
 * name, before the next begins.
 */
import { commandDigestOf } from '../../../gateway/sockets/sync-lane/digest.ts';
import type { SyncTickets } from '../../../gateway/sockets/sync-lane/tickets.ts';
import type { SeededRandom } from '../../kit/random.ts';
import type { Report } from '../checkers/checker.ts';
import type { CommandChecker, Frame } from '../checkers/commands.ts';
import type { SentEdit } from '../checkers/conflicts.ts';
import type { CallOutcome } from '../gateway.ts';
import type { Session } from '../sign-in.ts';
import type { SimulatedTime } from '../time.ts';
import type { Audience } from './audience.ts';
import { LaneSocketClient } from './client.ts';
import type { LaneServer } from './server.ts';

export interface LaneRequest {
  readonly items: readonly SentEdit[];
  readonly [field: string]: unknown;
}

export interface SyncerOptions {
  readonly device: string;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly session: Session;
  readonly tickets: SyncTickets;
  readonly checker: CommandChecker;
  readonly report: Report;
  readonly audience: Audience;
  /** The processes that serve clients. */
  readonly servers: () => readonly LaneServer[];
}

interface Command {
  readonly id: string;
  readonly digest: string;
  readonly session: string;
  readonly request: LaneRequest;
  wasSent: boolean;
}

/** A request and its outcome. */
export interface Decided {
  readonly request: LaneRequest;
  readonly outcome: CallOutcome;
}

const undecided: CallOutcome = { outcome: 'unknown', error: new Error('the command is undecided') };
const dropped: CallOutcome = { outcome: 'none', error: new Error('the session has ended') };
const pauseMs = 200;
const answerMs = 20_000;
const authMs = 5_000;
const httpMs = 9_000;
const otherTabMs = 300;
/** The capacity of the simulation's turns (`simulatedSettings`). */
const itemsOfTurn = 3;

export class Syncer {
  readonly #options: SyncerOptions;
  #socket: LaneSocketClient | undefined;
  /** The socket of another tab, which asks about the commands of this one. */
  #other: LaneSocketClient | undefined;
  #command: Command | undefined;
  #claims: { readonly userUuid: string; readonly sessionUuid: string } | undefined;
  #commandCount = 0;

  constructor(options: SyncerOptions) {
    this.#options = options;
  }

  /** Decides the undecided request, or else this one. */
  async sync(request: LaneRequest, withinMs: number): Promise<Decided> {
    if (this.#command?.session !== this.#identifier) this.#command = undefined;
    this.#command ??= this.#newCommand(request);
    const command = this.#command;
    const outcome = await this.#decide(command, this.#options.time.nowMs + withinMs);
    if (outcome.outcome !== 'unknown') this.#command = undefined;
    return { request: command.request, outcome };
  }

  /** Like a client that restarts without its store. */
  forget(): void {
    this.#command = undefined;
  }

  /** The session has ended, or may have. If that was acknowledged, later requests have no effect. */
  async signedOut(identifier: string | undefined, isAcknowledged: boolean): Promise<void> {
    const { checker, random, device } = this.#options;
    const socket = this.#socket;
    this.#command = undefined;
    this.#socket = undefined;
    this.#other?.close();
    if (identifier !== undefined && isAcknowledged) checker.sessionEnded(identifier);
    if (identifier !== undefined && isAcknowledged && socket?.session === identifier) {
      const lateItem = {
        ...lateItemFields,
        uuid: random.uuid(),
        content: `004:${device}:late:${this.#commandCount}`,
      };
      const request = { items: [lateItem], sync_token: null, limit: 5, api: '20200115' };
      const command = this.#newCommand(request, identifier);
      await socket.ask('COMMAND', commandPayload(command), { ...command, commandId: command.id }, authMs);
    }
    socket?.close();
  }

  /** An open socket of this session, and one for notices. Undefined: there is none now. */
  async open(): Promise<LaneSocketClient | undefined> {
    const session = this.#identifier;
    if (this.#socket?.isOpen === true && this.#socket.session === session) {
      this.#listen();
      return this.#socket;
    }
    this.#socket?.close();
    this.#socket = undefined;
    const { random, servers } = this.#options;
    const serving = servers();
    const ticket = serving.length === 0 ? undefined : await this.#mint();
    if (ticket === undefined || session === undefined) return undefined;
    // Two sockets and one ticket: at most one of them is let in.
    const socketCount = random.chance(0.1) ? 2 : 1;
    const dialled = Array.from({ length: socketCount }, () =>
      this.#dial(random.pick(serving), session, ticket),
    );
    const opened = (await Promise.all(dialled)).filter((socket) => socket !== undefined);
    for (const socket of opened.slice(1)) socket.close();
    [this.#socket] = opened;
    return this.#socket;
  }

  async #dial(server: LaneServer, session: string, ticket: string): Promise<LaneSocketClient | undefined> {
    const { time, device } = this.#options;
    const socket = new LaneSocketClient(time, server, session);
    const answer = await socket.ask('AUTH', { ticket, deviceId: device }, {}, authMs);
    if (answer?.type === 'AUTHENTICATED') return socket;
    socket.close();
    return undefined;
  }

  async #mint(repairsSession = true): Promise<string | undefined> {
    const { session, tickets, device, checker } = this.#options;
    const { credentials } = session;
    if (credentials === undefined) return undefined;
    const outcome = await session.ask('mintSyncTicket', { credentials }, authMs);
    if (outcome.outcome !== 'done') return undefined;
    const { ok, refused } = outcome.value as {
      ok?: Parameters<SyncTickets['mint']>[0];
      refused?: { reason: string };
    };
    if (refused !== undefined && repairsSession) await session.refused(refused.reason);
    if (ok === undefined) return undefined;
    const { userUuid } = credentials;
    this.#claims = { userUuid, sessionUuid: ok.sessionUuid };
    this.#listen();
    const ticket = tickets.mint({ ...ok, userUuid }, device);
    checker.minted(ticket);
    return ticket;
  }

  /** Listens for notices, unless it does already. */
  #listen(): void {
    const { device, audience, random, servers } = this.#options;
    const serving = servers();
    if (this.#claims === undefined || serving.length === 0) return;
    audience.listen(device, random.pick(serving), this.#claims);
  }

  #newCommand(request: LaneRequest, session = this.#identifier ?? ''): Command {
    const { device, checker } = this.#options;
    this.#commandCount += 1;
    const command = {
      id: `${device}-c${this.#commandCount}`,
      digest: commandDigestOf(request),
      session,
      request,
    };
    const texts = request.items.flatMap(({ content }) => (content === null ? [] : [content]));
    checker.sends({ id: command.id, session, texts, isPlain: request.items.length <= itemsOfTurn });
    return { ...command, wasSent: false };
  }

  async #decide(command: Command, untilMs: number): Promise<CallOutcome> {
    const { time, random } = this.#options;
    while (time.nowMs < untilMs) {
      if (command.session !== this.#identifier) return dropped;
      const socket = random.chance(0.75) ? await this.open() : undefined;
      const outcome = await (socket === undefined
        ? this.#overHttp(command)
        : command.wasSent
          ? this.#status(socket, command)
          : this.#overLane(socket, command));
      if (outcome !== undefined) return outcome;
      await time.sleep(pauseMs);
    }
    return undecided;
  }

  async #overLane(socket: LaneSocketClient, command: Command): Promise<CallOutcome | undefined> {
    const { random } = this.#options;
    command.wasSent = true;
    // A client that has given the socket up continues over HTTP while the command may still run.
    if (random.chance(0.1)) void this.#overHttp(command);
    if (random.chance(0.3)) void this.#askFromOtherTab(command);
    const answer = await socket.ask('COMMAND', commandPayload(command), idsOf(command), answerMs);
    return this.#answered(socket, command, answer);
  }

  /** The checker judges the answer. */
  async #askFromOtherTab(command: Command): Promise<void> {
    const { random, servers, time } = this.#options;
    await time.sleep(random.fraction() * otherTabMs);
    if (this.#other?.isOpen === true && this.#other.session === command.session) {
      await this.#other.ask('STATUS', {}, idsOf(command), answerMs);
      return;
    }
    this.#other?.close();
    const ticket = await this.#mint(false);
    const serving = servers();
    if (ticket === undefined || serving.length === 0 || command.session !== this.#identifier) return;
    this.#other = await this.#dial(random.pick(serving), command.session, ticket);
  }

  async #status(socket: LaneSocketClient, command: Command): Promise<CallOutcome | undefined> {
    const answer = await socket.ask('STATUS', {}, idsOf(command), answerMs);
    if (answer?.payload['status'] === 'UNKNOWN') return this.#overHttp(command);
    return this.#answered(socket, command, answer);
  }

  /** Undefined: it is still undecided. */
  async #answered(
    socket: LaneSocketClient,
    command: Command,
    answer: Frame | undefined,
  ): Promise<CallOutcome | undefined> {
    if (answer === undefined) {
      socket.close();
      return undefined;
    }
    const { status, result, code } = answer.payload as {
      status?: string;
      result?: Readonly<Record<string, unknown>>;
      code?: string;
    };
    if (status === 'COMMITTED') {
      return result === undefined ? this.#overHttp(command) : { outcome: 'done', value: answerOf(result) };
    }
    if (code === 'SESSION_STALE') await this.#renew(socket);
    if (code === 'COMMAND_ID_CONFLICT' || code === 'READ_ONLY' || code === 'NOT_AUTHORIZED') {
      this.#options.report(`${command.id} was answered by ${code}`);
    }
    return undefined;
  }

  /** New tokens for the session and for the socket, if the client can get them. */
  async #renew(socket: LaneSocketClient): Promise<void> {
    const { session, random, device } = this.#options;
    await session.refresh();
    const ticket = random.chance(0.7) ? await this.#mint() : undefined;
    const answer =
      ticket === undefined || socket.session !== this.#identifier
        ? undefined
        : await socket.ask('REAUTH', { ticket, deviceId: device }, {}, authMs);
    if (answer?.type !== 'REAUTHENTICATED') socket.close();
  }

  async #overHttp(command: Command): Promise<CallOutcome | undefined> {
    const { session, checker } = this.#options;
    const { credentials } = session;
    if (credentials?.identifier !== command.session) return undefined;
    command.wasSent = true;
    checker.asks(command.id);
    const identity = { id: command.id, digest: command.digest };
    const request = { ...command.request, credentials, snjs_version: null, identity };
    const outcome = await session.ask('sync', request, httpMs);
    if (outcome.outcome !== 'done') return undefined;
    const { refused } = outcome.value as { refused?: { reason: string; tag?: string } };
    if (refused === undefined || command.session !== this.#identifier) return outcome;
    if (refused.reason === 'unauthenticated' || refused.reason === 'expired')
      await session.refused(refused.reason);
    else if (refused.tag !== 'sync_command_pending') return outcome;
    return undefined;
  }

  get #identifier(): string | undefined {
    return this.#options.session.credentials?.identifier;
  }
}

const idsOf = ({ id, digest }: Command) => ({ commandId: id, digest });

const commandPayload = ({ request }: Command) => ({ command: 'SYNC_ITEMS', body: request });

/** An answer of HTTP, or of a sync. */
const answerOf = (result: Readonly<Record<string, unknown>>): object =>
  typeof result['status'] === 'number' ? { refused: { reason: `${result['status']}` } } : { ok: result };

const lateItemFields = {
  deleted: false,
  content_type: 'Note',
  enc_item_key: '004:key',
  created_at_timestamp: 1_700_000_000_000_000,
  updated_at_timestamp: 0,
};
