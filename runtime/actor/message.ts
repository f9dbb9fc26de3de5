import { shardOf } from '../address.ts';
import { keys, type PlanResults, type Plans, type Turn, type View } from '../command.ts';
import { ConflictingRows } from '../commit/conflicting-rows.ts';
import type { TurnSignal } from '../events/publisher.ts';
import { callTable } from '../store/tables.ts';
import type { Span } from '../tracing.ts';
import type { AskCall } from '../transport/transport.ts';
import type { ReadAnswers } from './reads.ts';
import { callKey, decryptReply, recordedCall } from './recorded-calls.ts';
import type { ReadTicket } from './rows.ts';
import { isEmpty, type RunningTurn, type StateView } from './turn.ts';

/** One turn for an actor to run, for a command, a step of a workflow, a timer or a tell. */
export interface Message {
  /** `kind.name`, for metrics and logs; never an id. */
  readonly what: string;
  readonly creates: boolean;
  /** A tombstone answers commands with "not found". Timers and tells decide for themselves. */
  readonly reachesTombstone: boolean;
  /** Also while the shard of the actor leaves this host, if the actor is in memory. */
  readonly reachesLeaving?: boolean;
  /** After this the caller no longer waits, in monotonic milliseconds. */
  readonly deadlineMs: number;
  /** The turn as a step of its request, if that is sampled. */
  readonly span?: Span | undefined;
  plans(view: StateView): Plans;
  run(turn: RunningTurn, plans: Plans, answers: ReadAnswers): unknown;
  resolve(outcome: MessageOutcome): void;
}

export type MessageOutcome = { readonly value: unknown } | { readonly error: unknown };

/** A message at an actor, with the reads that were begun for it. */
export interface QueuedMessage {
  readonly message: Message;
  /** When it arrived, in monotonic milliseconds. */
  readonly cameMs: number;
  /** How many commits of this message were rejected for a taken key. */
  rejections: number;
  /** Its turn has to be committed alone, because merged commits with it were rejected or lost. */
  unmerged: boolean;
  conflicting: ConflictingRows;
  /** The caller got the answer that the outcome is unknown, and no longer waits. */
  answered: boolean;
  reads: BegunReads | undefined;
  /** The signals of the turn's last run. They leave with its outcome, unless that is an error. */
  signals: readonly TurnSignal[];
  /** The commit that carries the turn's last run, as a step of its request, if that is sampled. */
  commitSpan?: Span | undefined;
}

interface BegunReads {
  readonly plans: Plans;
  readonly ticket: ReadTicket | undefined;
  /** The plan was made while other messages were still to run. Their turns may have changed the state behind it. */
  readonly isEarly: boolean;
  answers: ReadAnswers | undefined;
  error: unknown;
}

export function queued(message: Message, cameMs: number): QueuedMessage {
  return {
    message,
    cameMs,
    rejections: 0,
    unmerged: false,
    conflicting: ConflictingRows.none,
    answered: false,
    reads: undefined,
    signals: [],
  };
}

// --- the turns of commands and workflows, with the recorded reply if there is one ----------------------------

/** A turn of any shape: its plans and its function. */
export interface TurnStep {
  readonly reads?: ((view: View) => Plans) | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: results of any plans
  readonly turn: (turn: Turn, reads: PlanResults<any>) => unknown;
  readonly recorded: boolean;
}

const callPlan = '$call';

export function turnMessage(
  call: Pick<AskCall, 'address' | 'callId' | 'deadlineMs' | 'span'> & {
    what: string;
    creates: boolean;
    shardCount: number;
  },
  step: TurnStep,
  resolve: (outcome: MessageOutcome) => void,
): Message {
  const { kind, id } = call.address;
  const key = step.recorded ? { kind, id, call_key: callKey(call.callId) } : undefined;
  return {
    what: call.what,
    creates: call.creates,
    reachesTombstone: false,
    deadlineMs: call.deadlineMs,
    span: call.span,
    resolve,
    plans(view: StateView): Plans {
      const plans = step.reads?.(view) ?? {};
      return key === undefined ? plans : { ...plans, [callPlan]: keys(callTable, [key]) };
    },
    run(turn: RunningTurn, plans: Plans, answers: ReadAnswers): unknown {
      const results = turn.results(plans, answers) as PlanResults<Plans>;
      if (key === undefined) return step.turn(turn, results);
      const before = (results[callPlan] as { get(key: object): { reply: Buffer } | undefined }).get(key);
      if (before !== undefined) return decryptReply(call.callId, before.reply);
      const reply = step.turn(turn, results);
      // The reply of a turn that wrote nothing is not recorded: a repeat does no harm.
      if (!isEmpty(turn.recorded)) {
        turn.record(
          recordedCall({
            self: call.address,
            shard: shardOf(call.address, call.shardCount),
            callId: call.callId,
            reply,
            at: turn.nowMs,
            random: turn.random,
          }),
        );
      }
      return reply;
    },
  };
}
