import type { Plans } from '../command.ts';
import { ConflictingRows } from '../commit/conflicting-rows.ts';
import type { Signal } from '../events/publisher.ts';
import type { Span } from '../tracing.ts';
import type { ReadAnswers } from './reads.ts';
import type { ReadTicket } from './rows.ts';
import type { RunningTurn, StateView } from './turn.ts';

/** One turn for an actor to run, for a command, a step of a workflow, a timer or a tell. */
export interface Message {
  /** `kind.name`, for metrics and logs; never an id. */
  readonly what: string;
  readonly creates: boolean;
  /** A tombstone answers commands with "not found". Timers and tells decide for themselves. */
  readonly reachesTombstone: boolean;
  /** After this the caller no longer waits, in monotonic milliseconds. */
  readonly deadlineMs: number;
  /** The turn as a step of its request, if that is sampled. */
  readonly span?: Span | undefined;
  plans(view: StateView): Plans;
  run(turn: RunningTurn, plans: Plans, answers: ReadAnswers): unknown;
  resolve(outcome: Outcome): void;
}

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A message at an actor, with the reads that were begun for it. */
export interface Queued {
  readonly message: Message;
  /** When it came, monotonic. */
  readonly cameMs: number;
  /** How many commits of this message were rejected for a taken key. */
  rejections: number;
  /** Commit it alone: merged commits with it were rejected or lost. */
  unmerged: boolean;
  conflicting: ConflictingRows;
  /** The caller was told that the outcome is unknown, and no longer waits. */
  answered: boolean;
  reads: BegunReads | undefined;
  /** The signals of the turn's last run. They leave with its outcome, unless that is an error. */
  signals: readonly Signal[];
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

export function queued(message: Message, cameMs: number): Queued {
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
