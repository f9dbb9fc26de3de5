/** A lane: the job that sends one mail after another (`attempt.ts` has its turns). */
import { type JobRun, job } from '../../runtime/command.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import {
  conclude,
  handOver,
  leasedPlan,
  leaseMs,
  leave,
  readyPlan,
  recover,
  type Taken,
  take,
} from './attempt.ts';
import { openContent } from './content.ts';
import { Mailer } from './contract.ts';
import { startAgain } from './lanes.ts';
import { MailSender, type Result } from './sender.ts';

/** So that a lane of a queue that never empties is a job that ends. */
const runMs = 300_000;
/** Less than the lease, so that its end finds nobody sending. */
const attemptMs = leaseMs - 20_000;

export const deliver = job({
  ...Mailer.jobs.deliver,
  timeoutMs: runMs + 2 * leaseMs,
  run: async (run, { lane }) => {
    const untilMs = run.nowMs + runMs;
    await run.turn({
      reads: (view) => leasedPlan(view, lane),
      turn: (turn, reads) => recover(turn, lane, reads),
    });
    while (run.nowMs < untilMs) {
      const taken = await run.turn({ reads: readyPlan, turn: (turn, reads) => take(turn, lane, reads) });
      if (taken === undefined) {
        return run.finish({ reads: readyPlan, turn: (turn, reads) => leave(turn, lane, reads) });
      }
      if (taken !== 'again') await send(run, lane, taken);
    }
    return run.finish({ turn: (turn) => startAgain(turn, lane) });
  },
});

async function send(run: JobRun, lane: number, first: Taken): Promise<void> {
  for (let taken: Taken | undefined = first; taken !== undefined; ) {
    const attempt: Taken = taken;
    const result = await resultOf(run, lane, attempt);
    // What a run that is not to go on could not send, its successor finds leased.
    run.signal.throwIfAborted();
    taken = await run.turn({
      reads: (view) => leasedPlan(view, lane),
      turn: (turn, reads) => conclude(turn, lane, attempt, result, reads),
    });
  }
}

async function resultOf(run: JobRun, lane: number, { mail, relay, credential }: Taken): Promise<Result> {
  const owned = { id: mail.id, userUuid: mail.user_uuid };
  const content = openContent(run.use(UserSecrets), owned, mail.content);
  if (content === undefined) return { result: 'rejected', failure: 'provider' };
  const { message_id: messageId, created_at: dateMs } = mail;
  return run.use(MailSender).send({
    relay,
    credential,
    message: { from: relay.from, ...content, messageId, dateMs },
    handOver: () =>
      run.turn({
        reads: (view) => leasedPlan(view, lane),
        turn: (turn, reads) => handOver(turn, lane, reads),
      }),
    timeoutMs: attemptMs,
    signal: run.signal,
  });
}
