/** The message that runs one turn of a command or a workflow, with its recorded reply if it has one. */

import { keys, type PlanResults, type Plans, type Turn, type View } from '../command.ts';
import { callTable } from '../store/tables.ts';
import type { AskCall } from '../transport/transport.ts';
import type { Message, Outcome } from './message.ts';
import type { ReadAnswers } from './reads.ts';
import { callKey, openReply, recordedCall } from './recorded-calls.ts';
import { isEmpty, type RunningTurn, type StateView } from './turn.ts';

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
    shard: number;
  },
  step: TurnStep,
  resolve: (outcome: Outcome) => void,
): Message {
  const key = { ...call.address, call_key: step.recorded ? callKey(call.callId) : '' };
  return {
    what: call.what,
    creates: call.creates,
    reachesTombstone: false,
    deadlineMs: call.deadlineMs,
    span: call.span,
    resolve,
    plans(view: StateView): Plans {
      const plans = step.reads?.(view) ?? {};
      return step.recorded ? { ...plans, [callPlan]: keys(callTable, [key]) } : plans;
    },
    run(turn: RunningTurn, plans: Plans, answers: ReadAnswers): unknown {
      const results = turn.results(plans, answers) as PlanResults<Plans>;
      if (!step.recorded) return step.turn(turn, results);
      const before = (results[callPlan] as { get(key: object): { reply: Buffer } | undefined }).get(key);
      if (before !== undefined) return openReply(call.callId, before.reply);
      const reply = step.turn(turn, results);
      // If a turn wrote nothing, a repeat doubles nothing.
      if (!isEmpty(turn.recorded)) {
        turn.record(
          recordedCall({
            self: call.address,
            shard: call.shard,
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
