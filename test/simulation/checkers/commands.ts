/**
 * A named command has one effect, by whichever way and however often it comes, and the answers about it are true.
 * - Its row is written once, and each of its texts is saved once.
 * - It is reported as committed once that is durable.
 * - It is reported as unknown while nothing of it is durable, and then no attempt that was accepted before takes
 *   effect.
 * - No command of a session runs after its end was acknowledged, and none over a socket whose tokens were replaced.
 * - A ticket lets in one socket.
 */

import type { Commit } from '../../../runtime/store/store.ts';
import type { AnyRow } from '../../../runtime/table.ts';
import type { AskCall } from '../../../runtime/transport/transport.ts';
import type { SimulatedTime } from '../time.ts';
import type { Checker, Report } from './checker.ts';

export interface Frame {
  readonly type: string;
  readonly requestId: string;
  readonly commandId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface NamedCommand {
  readonly id: string;
  readonly session: string;
  readonly texts: readonly string[];
  /** One turn executes it, so that its effect and its row are one commit. */
  readonly isPlain: boolean;
}

interface KnownCommand extends NamedCommand {
  /** When its row was written. */
  writtenMs?: number;
  /** When the first of its texts was saved. */
  savedMs?: number;
  /** When it was last requested, over the lane or over HTTP. */
  askedMs: number;
  /** When it was reported as committed without a row. */
  reportedMs?: number;
  /** When each of its attempts over the lane was accepted, by hold. */
  readonly accepted: Map<string, number>;
  readonly unknown: { readonly askedMs: number; readonly repliedMs: number }[];
}

export class CommandChecker implements Checker {
  readonly name = 'commands';
  readonly #report: Report;
  readonly #time: SimulatedTime;
  readonly #commands = new Map<string, KnownCommand>();
  readonly #byText = new Map<string, KnownCommand>();
  /** The versions of each text. */
  readonly #versions = new Map<string, unknown>();
  readonly #saved = new Set<string>();
  readonly #ended = new Set<string>();
  /** Requests of sockets without an answer so far, by socket and request. */
  readonly #questions = new Map<string, { readonly frame: Frame; readonly atMs: number }>();
  /** The socket that each ticket has let in. */
  readonly #tickets = new Map<string, string>();
  readonly #mintedMs = new Map<string, number>();
  /** When the ticket of each socket was minted. */
  readonly #namedMs = new Map<string, number>();
  /** When the last new tokens of each session were requested, and when they arrived. */
  readonly #refreshed = new Map<string, { readonly askedMs: number; readonly doneMs: number }>();

  constructor(report: Report, time: SimulatedTime) {
    this.#report = report;
    this.#time = time;
  }

  // --- what clients do ---------------------------------------------------------------------------------------

  sends(command: NamedCommand): void {
    const known = { ...command, askedMs: this.#time.nowMs, accepted: new Map(), unknown: [] };
    this.#commands.set(command.id, known);
    for (const text of command.texts) this.#byText.set(text, known);
  }

  /** Over HTTP. */
  asks(id: string): void {
    const known = this.#commands.get(id);
    if (known !== undefined) known.askedMs = this.#time.nowMs;
  }

  /** Its end was acknowledged. */
  sessionEnded(session: string): void {
    this.#ended.add(session);
  }

  /** Its tokens were replaced. */
  refreshed(session: string, askedMs: number): void {
    this.#refreshed.set(session, { askedMs, doneMs: this.#time.nowMs });
  }

  minted(ticket: string): void {
    this.#mintedMs.set(ticket, this.#time.nowMs);
  }

  // --- what sockets of the server receive and send --------------------------------------------------------------

  received(socket: string, frame: Frame): void {
    this.#questions.set(`${socket} ${frame.requestId}`, { frame, atMs: this.#time.nowMs });
    if (frame.type === 'COMMAND') this.asks(frame.commandId);
  }

  answered(socket: string, session: string, { type, requestId, commandId, payload }: Frame): void {
    const question = this.#questions.get(`${socket} ${requestId}`);
    if (type === 'AUTHENTICATED' || type === 'REAUTHENTICATED') {
      this.#checkTicket(socket, String(question?.frame.payload['ticket']));
    }
    const known = this.#commands.get(commandId);
    if (known === undefined || question === undefined) return;
    if (type === 'ACCEPTED') this.#accepted(known, socket, session, question.atMs);
    const { status, result } = payload as { status?: string; result?: Result };
    if (status === 'COMMITTED') this.#answeredCommitted(known, result);
    if (status === 'UNKNOWN') this.#answeredUnknown(known, question.atMs);
  }

  #checkTicket(socket: string, ticket: string): void {
    const by = this.#tickets.get(ticket) ?? socket;
    if (by !== socket) this.#report(`a ticket has let in ${by} and ${socket}`);
    this.#tickets.set(ticket, by);
    this.#namedMs.set(socket, this.#mintedMs.get(ticket) ?? 0);
  }

  #accepted({ id }: KnownCommand, socket: string, session: string, atMs: number): void {
    const refreshed = this.#refreshed.get(session);
    const namedMs = this.#namedMs.get(socket) ?? 0;
    if (refreshed === undefined || namedMs >= refreshed.askedMs || refreshed.doneMs >= atMs) return;
    this.#report(`${id} was accepted over a socket whose tokens were replaced before`);
  }

  #answeredCommitted(known: KnownCommand, result: Result | undefined): void {
    for (const { uuid, updated_at_timestamp: version } of result?.saved_items ?? []) {
      if (!this.#saved.has(`${uuid}@${version}`)) {
        this.#report(`${known.id} was told as committed before ${uuid}@${version} was durable`);
      }
    }
    if (known.writtenMs === undefined) known.reportedMs ??= this.#time.nowMs;
  }

  #answeredUnknown(known: KnownCommand, askedMs: number): void {
    const effectMs = known.isPlain ? known.savedMs : known.writtenMs;
    if (effectMs !== undefined && effectMs < askedMs) {
      this.#report(`${known.id} was told as unknown, and had taken effect before that was asked`);
    }
    known.unknown.push({ askedMs, repliedMs: this.#time.nowMs });
  }

  // --- what hosts do -------------------------------------------------------------------------------------------

  replied({ command, request }: AskCall, reply: unknown): void {
    if (command === 'holdSyncCommand') this.#held(request as HoldRequest, reply);
    if (command === 'sync') this.#carriedOut(request as SyncRequest, reply);
  }

  #held({ commandId, hold }: HoldRequest, reply: unknown): void {
    const { ok } = reply as { ok?: { verdict: string } };
    if (ok?.verdict === 'held') this.#commands.get(commandId)?.accepted.set(hold, this.#time.nowMs);
  }

  #carriedOut({ identity }: SyncRequest, reply: unknown): void {
    const known = this.#commands.get(identity?.id ?? '');
    const { ok } = reply as { ok?: { command?: { replayed: boolean } } };
    const acceptedMs = known?.accepted.get(identity?.hold ?? '');
    if (known?.writtenMs === undefined || acceptedMs === undefined || ok?.command?.replayed !== false) return;
    const { writtenMs } = known;
    const isFalse = known.unknown.some(
      ({ askedMs, repliedMs }) => acceptedMs < askedMs && repliedMs < writtenMs,
    );
    if (isFalse) this.#report(`${known.id} was accepted, then told as unknown, and then took effect`);
  }

  committed({ writes }: Commit): void {
    for (const write of writes) {
      if (!('put' in write)) continue;
      if (write.table.name === 'item') this.#itemSaved(write.put);
      if (write.table.name === 'sync_command') this.#rowWritten(String(write.put['command_id']));
    }
  }

  #itemSaved(row: AnyRow): void {
    const { content, updated_at_timestamp: version, uuid } = row;
    this.#saved.add(`${uuid}@${version}`);
    const text = String(content);
    const known = this.#byText.get(text);
    if (known === undefined) return;
    known.savedMs ??= this.#time.nowMs;
    const before = this.#versions.get(text) ?? version;
    if (before !== version) this.#report(`${known.id} has saved ${text.slice(0, 24)} twice`);
    this.#versions.set(text, version);
    this.#mayRun(known);
  }

  #rowWritten(id: string): void {
    const known = this.#commands.get(id);
    if (known === undefined) return;
    if (known.writtenMs !== undefined) this.#report(`${id} was written into the journal twice`);
    known.writtenMs = this.#time.nowMs;
    if (known.reportedMs !== undefined && known.askedMs < known.reportedMs) {
      this.#report(`${id} was told as committed before it was`);
    }
    this.#mayRun(known);
  }

  #mayRun({ id, session }: KnownCommand): void {
    if (this.#ended.has(session)) this.#report(`${id} was carried out although its session has ended`);
  }
}

interface Result {
  readonly saved_items?: readonly { readonly uuid: string; readonly updated_at_timestamp: number }[];
}

interface HoldRequest {
  readonly commandId: string;
  readonly hold: string;
}

interface SyncRequest {
  readonly identity?: { readonly id: string; readonly hold?: string };
}
