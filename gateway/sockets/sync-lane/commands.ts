/**
 * COMMAND and STATUS of one socket (docs/protocol/sockets.md, "Commands"). A command means the same as `POST
 * /v1/items`, so the same command of the user's actor answers both.
 *
 *     hold (the actor checks the session) -> ACCEPTED -> sync (checks it again) -> COMMITTED, after the commit
 *
 * If the actor refuses for another reason than the session, that is an answer too. It goes out in the form of HTTP.
 *
 * STATUS waits for a command that is held, because a client that gets `ACCEPTED` waits for twenty seconds and then drops its
 * socket.
 */

import type { Credentials } from '../../../actors/identity/session-tokens.ts';
import { isRefused, type Refusal } from '../../../actors/reply.ts';
import { Items } from '../../../actors/user/items/contract.ts';
import { SyncLane } from '../../../actors/user/sync-lane/contract.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import type { CommandShapes } from '../../../runtime/contract.ts';
import { NotFoundError, RetryableError } from '../../../runtime/errors.ts';
import type { Actors, Ask, AskOptions, KindRef } from '../../../runtime/handles.ts';
import type { Random } from '../../../runtime/random.ts';
import { inSpan, type Tracer } from '../../../runtime/tracing.ts';
import { validateRequest } from '../../http/context.ts';
import { refusalOf } from '../../http/errors.ts';
import { type RouteRefusal, statusOf } from '../../http/refusal.ts';
import type { ClientFrame } from './envelope.ts';

/** Frames of an answer without ids, which are those of the question. `payload` is JSON. */
export interface CommandAnswer {
  readonly type: 'ACCEPTED' | 'COMMITTED' | 'STATUS' | 'ERROR';
  readonly payload: string;
}

export interface CommandsOptions {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly tracer?: Tracer | undefined;
  /** Called with unexpected errors. */
  readonly failed: (error: unknown) => void;
}

/** Codes of errors that keep the socket. */
export const errorCodes = [
  ...(['BUSY', 'COMMAND_ID_CONFLICT', 'SESSION_STALE', 'LIVE_SYNC_DISABLED', 'BACKEND_TIMEOUT'] as const),
  ...(['NOT_AUTHORIZED', 'READ_ONLY', 'LEASE_LOST', 'BACKEND_ERROR', 'OPERATION_UNAVAILABLE'] as const),
] as const;
type ErrorCode = (typeof errorCodes)[number];

const retryable: ReadonlySet<ErrorCode> = new Set([
  'BUSY',
  'BACKEND_TIMEOUT',
  'BACKEND_ERROR',
  'LEASE_LOST',
  'OPERATION_UNAVAILABLE',
  'SESSION_STALE',
]);

export const errorAnswer = (code: ErrorCode): CommandAnswer => ({
  type: 'ERROR',
  payload: JSON.stringify({ code, retryable: retryable.has(code) }),
});

/** Less than the 20 s that clients wait. */
const stepMs = 15_000;
/** How long STATUS waits for a command to end, and the rest of the step for asking. */
const undecidedMs = 8_000;
const statusMs = stepMs - undecidedMs;
const statusPauseMs = 250;
/** The client waits for this as well. If it fails, the hold ends by itself. */
const releaseMs = 2_000;
/** The first version of snjs that knows vaults. A client that knows the lane knows them. */
const snjsVersion = '2.200.0';

const { sync } = Items.commands;
export const commandBody = sync.fields.omit({ snjs_version: true, identity: true });
const body = { request: commandBody };

const codeOfVerdict = {
  'read-only': 'READ_ONLY',
  'not-authorized': 'NOT_AUTHORIZED',
  disabled: 'LIVE_SYNC_DISABLED',
  busy: 'BUSY',
} as const satisfies Record<string, ErrorCode>;

interface LaneCommand {
  readonly frame: ClientFrame;
  readonly credentials: Credentials;
  readonly step: AskOptions;
}

export class LaneCommands {
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** `accepted` is called once the command is held. */
  execute(frame: ClientFrame, credentials: Credentials, accepted: () => void): Promise<CommandAnswer> {
    const span = this.#options.tracer?.request('COMMAND SYNC_ITEMS');
    return inSpan(span, () =>
      this.#execute({ frame, credentials, step: { deadlineMs: stepMs, span } }, accepted),
    );
  }

  async #execute(command: LaneCommand, accepted: () => void): Promise<CommandAnswer> {
    const { frame } = command;
    const requestBody = frame.payload['body'] as Record<string, unknown>;
    const checked = validateRequest(body, requestBody);
    if ('status' in checked) return committedAs(frame, checked);
    const request = checked.request as typeof sync.fields._output;
    const held = await this.#hold(command, request);
    if (typeof held !== 'string') return held;
    accepted();
    return this.#run(command, request, held);
  }

  /** The name of the hold, or why there is none. */
  async #hold(
    { frame: { commandId }, credentials, step }: LaneCommand,
    { items, shared_vault_uuids: vaults }: typeof sync.fields._output,
  ): Promise<string | CommandAnswer> {
    const hold = this.#options.random.uuid();
    const fields = { credentials, commandId, hold, saves: (items?.length ?? 0) > 0, vaults: vaults ?? [] };
    try {
      const answer = await this.#of(SyncLane, credentials).holdSyncCommand(fields, step);
      if (isRefused(answer)) return answerOfRefusal(answer.refused) ?? errorAnswer('BACKEND_ERROR');
      const { verdict } = answer.ok;
      return verdict === 'held' ? hold : errorAnswer(codeOfVerdict[verdict]);
    } catch (error) {
      return this.#failure(error, 'BACKEND_ERROR');
    }
  }

  async #run(
    { frame, credentials, step }: LaneCommand,
    request: typeof sync.fields._output,
    hold: string,
  ): Promise<CommandAnswer> {
    const { commandId: id, digest = '' } = frame;
    const fields = { ...request, credentials, snjs_version: snjsVersion, identity: { id, digest, hold } };
    try {
      const answer = await this.#of(Items, credentials).sync(fields, step);
      if (!isRefused(answer)) return committed(sync.json?.(answer.ok) ?? JSON.stringify(answer.ok));
      await this.#release(id, credentials, hold);
      return (
        answerOfRefusal(answer.refused) ??
        committedAs(frame, { ...answer.refused, status: statusOf(answer.refused) })
      );
    } catch (error) {
      const isCertain = error instanceof RetryableError && error.outcome === 'none';
      if (isCertain) await this.#release(id, credentials, hold);
      return this.#failure(error, isCertain ? 'BACKEND_ERROR' : 'BACKEND_TIMEOUT');
    }
  }

  /** Nothing more will happen, so no client has to wait until the hold expires. */
  async #release(commandId: string, credentials: Credentials, hold: string): Promise<void> {
    const fields = { sessionUuid: credentials.identifier, commandId, hold };
    await this.#of(SyncLane, credentials)
      .releaseSyncCommand(fields, { deadlineMs: releaseMs })
      .catch(() => {});
  }

  async status(frame: ClientFrame, credentials: Credentials): Promise<CommandAnswer> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + undecidedMs;
    for (;;) {
      const answer = await this.#statusNow(frame, credentials);
      if (answer !== undecided || clock.monotonicMs() >= untilMs) return answer;
      await sleep(clock, statusPauseMs);
    }
  }

  async #statusNow(
    { commandId: id, digest = '' }: ClientFrame,
    credentials: Credentials,
  ): Promise<CommandAnswer> {
    try {
      const fields = { commandId: id, digest, credentials };
      const answer = await this.#of(SyncLane, credentials).getSyncCommand(fields, { deadlineMs: statusMs });
      if (isRefused(answer)) return answerOfRefusal(answer.refused) ?? errorAnswer('BACKEND_ERROR');
      const { command, result } = answer.ok;
      if (command.status === 'accepted') return undecided;
      if (command.status === 'unknown') return commandStatus({ status: 'UNKNOWN' });
      if (result === undefined) return tooLarge;
      return commandStatus({ status: 'COMMITTED', result: { ...result, command } });
    } catch (error) {
      return this.#failure(error, 'BACKEND_TIMEOUT');
    }
  }

  #of<C extends CommandShapes>(contract: KindRef<C>, { userUuid }: Credentials): Ask<C> {
    return this.#options.actors.get(contract, userUuid).ask;
  }

  #failure(error: unknown, code: ErrorCode): CommandAnswer {
    // The account is gone, and its sockets will be closed.
    if (error instanceof NotFoundError) return errorAnswer('SESSION_STALE');
    if (refusalOf(error) === undefined) this.#options.failed(error);
    return errorAnswer(code);
  }
}

/** Undefined: the lane has no answer for it. */
function answerOfRefusal({ reason, tag }: Refusal): CommandAnswer | undefined {
  if (reason === 'unauthenticated' || reason === 'expired') return errorAnswer('SESSION_STALE');
  if (tag === 'sync_command_digest_mismatch') return errorAnswer('COMMAND_ID_CONFLICT');
  if (tag === 'sync_command_pending') return errorAnswer('BUSY');
  if (tag === 'sync_command_lost') return errorAnswer('LEASE_LOST');
  return undefined;
}

const committed = (result: string): CommandAnswer => ({
  type: 'COMMITTED',
  payload: `{"status":"COMMITTED","result":${result}}`,
});

/** In the form of an HTTP answer, which clients can tell from that of a sync. */
function committedAs(
  { commandId: id, digest }: ClientFrame,
  { status, tag, message }: Pick<RouteRefusal, 'status' | 'tag' | 'message'>,
): CommandAnswer {
  const error = { ...(tag !== undefined && { tag }), message };
  return committed(JSON.stringify({ status, data: { error }, command: { id, digest, status: 'committed' } }));
}

const commandStatus = (payload: object): CommandAnswer => ({
  type: 'STATUS',
  payload: JSON.stringify(payload),
});

const undecided = commandStatus({ status: 'ACCEPTED' });

/** The client fetches the result over HTTP, under the same name. */
export const tooLarge = commandStatus({ status: 'COMMITTED', code: 'RESULT_TOO_LARGE' });
