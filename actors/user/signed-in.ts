/**
 * Runs every command of signed-in callers (their contract is `actors/signed-in.ts`). The session is checked here and nowhere
 * else. Its slices are in memory, so the check takes no call and no read. A workflow checks it in each of its turns, as the
 * session may have ended since the last one.
 *
 * The read plan comes before the check. It may depend on the request and the state, and a refusal drops what was read.
 */
import {
  type ClockedView,
  command,
  type PlanResults,
  type Plans,
  type SharedCommand,
  sharedRead,
  type Turn,
  type TurnCommand,
  type View,
  type Workflow,
  type WorkflowCommand,
  workflow,
} from '../../runtime/command.ts';
import type { Dependency } from '../../runtime/dependency.ts';
import { answerOf, type Caller, isRefused, type Refused, refuse, type SignedInAnswer } from '../reply.ts';
import type { SignedInRequest, SignedInShape } from '../signed-in.ts';
import { callerOf } from './profile.ts';
import {
  checkSession,
  isBridge,
  isReadonly,
  noteSessionUse,
  type Session,
  storeUse,
} from './sessions/session.ts';

/** The declaration of a command, as far as it says who may run it. */
type AccessRules = Pick<SignedInShape<unknown, unknown>, 'access' | 'ofUser' | 'bridges' | 'bearerSuffices'>;
type Request = SignedInRequest<{ readonly userUuid?: unknown }>;

/** What a turn knows of its caller. */
export interface SignedIn {
  readonly caller: Caller;
  readonly session: Session;
  /** The session, or the whole account, may only read. */
  readonly readonly: boolean;
}

interface ReadingHandler<Request, P extends Plans> {
  readonly reads?: (view: View, request: Request) => P;
}

/** A `Refused` that it returns is the answer; what it wrote before is committed all the same. */
type Handler<V, Request, P extends Plans, Ok> = (
  view: V,
  request: Request,
  reads: PlanResults<P>,
  signedIn: SignedIn,
) => Ok | Refused;

interface TurnHandler<Fields, Ok, P extends Plans> extends ReadingHandler<SignedInRequest<Fields>, P> {
  readonly repeat?: 'natural' | 'recorded';
  readonly turn: Handler<Turn, SignedInRequest<Fields>, P, Ok>;
}

interface ReadHandler<Fields, Ok, P extends Plans> extends ReadingHandler<SignedInRequest<Fields>, P> {
  /** The answer, if memory alone gives it. */
  readonly known?: (view: View, request: SignedInRequest<Fields>) => Ok | undefined;
  readonly answer: Handler<ClockedView, SignedInRequest<Fields>, P, Ok>;
}

/** `handling`: the turn alone, or with what it reads. */
export function signedInTurn<Fields, Ok, P extends Plans = Record<never, never>>(
  shape: SignedInShape<Fields, Ok>,
  handling: TurnHandler<Fields, Ok, P> | TurnHandler<Fields, Ok, P>['turn'],
): TurnCommand<SignedInRequest<Fields>, SignedInAnswer<Ok>, P> {
  const whole: TurnHandler<Fields, Ok, P> = typeof handling === 'function' ? { turn: handling } : handling;
  const { turn: run, ...options } = whole;
  return command(shape, {
    ...options,
    turn: (turn, request, reads) =>
      whenSignedIn(turn, request, shape, (by) => {
        const answer = answerOf(run(turn, request, reads, by));
        if (!isRefused(answer)) storeUse(turn, by.session);
        return answer;
      }),
  });
}

export function signedInRead<Fields, Ok, P extends Plans = Record<never, never>>(
  shape: SignedInShape<Fields, Ok>,
  handling: ReadHandler<Fields, Ok, P> | ReadHandler<Fields, Ok, P>['answer'],
): SharedCommand<SignedInRequest<Fields>, SignedInAnswer<Ok>, P> {
  const whole: ReadHandler<Fields, Ok, P> = typeof handling === 'function' ? { answer: handling } : handling;
  const { known, answer: run, ...options } = whole;
  return sharedRead(shape, {
    ...options,
    known:
      known &&
      ((view, request) => {
        const ok = known(view, request);
        return ok === undefined ? undefined : whenSignedIn(view, request, shape, () => ({ ok }));
      }),
    answer: (view, request, reads) =>
      whenSignedIn(view, request, shape, (by) => answerOf(run(view, request, reads, by))),
  });
}

export function signedInWorkflow<Fields, Ok>(
  shape: SignedInShape<Fields, Ok>,
  run: (workflow: SignedInWorkflow<Ok>, request: SignedInRequest<Fields>) => Promise<Ok | Refused>,
): WorkflowCommand<SignedInRequest<Fields>, SignedInAnswer<Ok>> {
  return workflow(shape, async (steps, request) => {
    const signedIn = new SignedInSteps<Ok>(steps, request, shape);
    try {
      const result = answerOf(await run(signedIn, request));
      const { caller } = signedIn;
      if (caller === undefined) throw new Error('a workflow answered without having checked the session');
      return { ...result, caller };
    } catch (error) {
      if (error instanceof EarlyAnswer) return error.answer as SignedInAnswer<Ok>;
      throw error;
    }
  });
}

interface Step<R, P extends Plans> {
  /** Ends the workflow with an answer that needs no living session, where there is one. */
  readonly unless?: (turn: Turn) => SignedInAnswer<unknown> | undefined;
  readonly reads?: (view: View) => P;
  readonly turn: (turn: Turn, reads: PlanResults<P>, signedIn: SignedIn) => R | Refused;
  /** A repeat of the call gets here what its last turn has recorded. */
  readonly recorded?: boolean;
}

interface NoteStep<P extends Plans> {
  readonly reads: (view: View) => P;
  readonly turn: (turn: Turn, reads: PlanResults<P>) => void;
}

/** Each turn checks the session. A turn that refuses ends the workflow with its refusal. */
export interface SignedInWorkflow<Ok> extends Pick<Workflow, 'self' | 'callId' | 'use' | 'actors'> {
  turn<R, P extends Plans = Record<never, never>>(step: Step<R, P>): Promise<R>;
  /** A turn that notes what earlier ones have done. It does not check the session, which may have ended or got new tokens since. */
  note<P extends Plans>(step: NoteStep<P>): Promise<void>;
  /** The result of this turn is the answer of the workflow. */
  lastTurn<P extends Plans = Record<never, never>>(step: Step<Ok, P>): Promise<Ok>;
}

/** Ends a workflow early. It never leaves this file. */
class EarlyAnswer extends Error {
  readonly answer: SignedInAnswer<unknown>;

  constructor(answer: SignedInAnswer<unknown>) {
    super('the workflow has its answer');
    this.answer = answer;
  }
}

/** The next step of the workflow, or its end. */
type StepResult<R> = { readonly caller: Caller; readonly next: R } | SignedInAnswer<unknown>;
type TurnResult<R> = { readonly next: R } | { readonly ok: R };

class SignedInSteps<Ok> implements SignedInWorkflow<Ok> {
  caller: Caller | undefined;
  readonly self: Workflow['self'];
  readonly callId: string;
  readonly actors: Workflow['actors'];
  readonly #steps: Workflow;
  readonly #request: Request;
  readonly #allowed: AccessRules;

  constructor(steps: Workflow, request: Request, allowed: AccessRules) {
    this.self = steps.self;
    this.callId = steps.callId;
    this.actors = steps.actors;
    this.#steps = steps;
    this.#request = request;
    this.#allowed = allowed;
  }

  use<T>(dependency: Dependency<T>): T {
    return this.#steps.use(dependency);
  }

  async turn<R, P extends Plans = Record<never, never>>(step: Step<R, P>): Promise<R> {
    const result = await this.#take(step, (next) => ({ next }));
    if (!('next' in result)) throw new EarlyAnswer(result);
    this.caller = result.caller;
    return result.next;
  }

  async note<P extends Plans>({ reads, turn: run }: NoteStep<P>): Promise<void> {
    await this.#steps.turn({
      reads,
      turn: (turn, rows: PlanResults<P>) => {
        run(turn, rows);
        return {};
      },
    });
  }

  async lastTurn<P extends Plans = Record<never, never>>(step: Step<Ok, P>): Promise<Ok> {
    const result = await this.#take(step, (ok) => ({ ok }));
    if (!('ok' in result)) throw new EarlyAnswer(result as SignedInAnswer<unknown>);
    this.caller = result.caller;
    return result.ok as Ok;
  }

  #take<R, P extends Plans>(
    { unless, reads, turn: run, recorded = false }: Step<R, P>,
    outcome: (result: R) => TurnResult<R>,
  ): Promise<StepResult<R>> {
    return this.#steps.turn({
      ...(reads !== undefined && { reads }),
      recorded,
      turn: (turn, rows: PlanResults<P>) =>
        unless?.(turn) ??
        whenSignedIn(turn, this.#request, this.#allowed, (by): TurnResult<R> | Refused => {
          const result = run(turn, rows, by);
          return isRefused(result) ? result : outcome(result);
        }),
    });
  }
}

const readOnlyAccess = refuse.forbidden('Session has read-only access.', 'read-only-access');

/**
 * A bridge signs in without the password and the second factor. So it may touch nothing that protects the account: credentials,
 * factors, tokens, sessions. It may not delete the account, its history or a vault, and may not administer.
 */
const notForBridges = refuse.forbidden('A bridge may not do this. Please use an app that is signed in.');

/** For a command that declares `reads` and still writes in some cases, other than items. */
export const refusalToWrite = (readonly: boolean): Refused | undefined =>
  readonly ? readOnlyAccess : undefined;

/** For a command that is open to bridges, in the cases that are not. */
export const refusalOfBridge = (session: Session): Refused | undefined =>
  isBridge(session) ? notForBridges : undefined;

/** The request names a user other than its caller. */
export const anotherUsers = refuse.forbidden('Operation not allowed.');

interface Called {
  readonly caller: Caller;
}

/** Checks the session, and adds the caller to the answer. An answer with `ok` has no other field. */
function whenSignedIn<R extends object>(
  view: ClockedView,
  { credentials, userUuid }: Request,
  { access, ofUser = false, bridges, bearerSuffices }: AccessRules,
  run: (signedIn: SignedIn) => R,
): (R & Called) | (Refused & Partial<Called>) {
  const checked = checkSession(view, credentials, view.nowMs, bearerSuffices);
  if ('refused' in checked) return checked;
  const caller = callerOf(view);
  if (ofUser && userUuid !== view.self.id) return { caller, ...anotherUsers };
  const { session } = checked;
  noteSessionUse(view, session);
  const readonly = isReadonly(view, session);
  const refused =
    access === 'writes'
      ? (refusalToWrite(readonly) ?? (bridges ? undefined : refusalOfBridge(session)))
      : undefined;
  if (refused !== undefined) return { caller, ...refused };
  const answer = run({ caller, session, readonly });
  // Nearly every answer is this one. To copy an object of unknown fields costs more than the check of the session.
  return 'ok' in answer ? ({ ok: answer.ok, caller } as unknown as R & Called) : { ...answer, caller };
}
