/**
 * The workers that send mail. Each sends one mail after another. A worker is a job (`deliver.ts`) that runs while there is mail
 * that some relay can take. Then it ends. The next mail, or the time from which a relay can send again, starts a new one.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { keyed } from '../../runtime/contract.ts';
import { slice } from '../../runtime/slice.ts';
import { Mailer } from './contract.ts';
import type { MailRow } from './queue-table.ts';
import { rulesOf } from './sources.ts';

/** Connections that a relay sees at once: more is impolite, and fewer make a slow relay slower. */
const workersMax = 4;
/**
 * The only worker that takes large mails and bulk mails. So one of them is in memory at a time, and the other workers are free for
 * other mails.
 */
const largeMailWorker = 0;
const largeBytes = 1_048_576;
const workers = Array.from({ length: workersMax }, (_, worker) => worker);

interface Workers {
  /** The mail that each running worker has leased. */
  readonly running: Readonly<Record<string, string | null>>;
  /** No relay can send before this. */
  readonly asleepUntilMs: number;
}

export const workersSlice = slice<Workers>({
  name: 'workers',
  schema: z.object({ running: z.record(z.string(), z.string().nullable()), asleepUntilMs: z.number() }),
  initial: { running: {}, asleepUntilMs: 0 },
});

/** Starts a free worker, if there is one and a relay can send. */
export function startWorker(turn: Turn): void {
  const { running, asleepUntilMs } = turn.get(workersSlice);
  if (turn.nowMs < asleepUntilMs) return;
  const free = workers.find((worker) => running[worker] === undefined);
  if (free !== undefined) runWorker(turn, free);
}

export const isLarge = ({ size }: { readonly size: number }): boolean => size > largeBytes;

export const maySend = (worker: number, { size, source }: Pick<MailRow, 'size' | 'source'>): boolean =>
  worker === largeMailWorker || !(isLarge({ size }) || rulesOf(source).isBulk === true);

/** Starts all workers. One that finds nothing to do ends again. */
export function startWorkers(turn: Turn): void {
  for (const _ of workers) startWorker(turn);
}

/** Call when a relay can send again. */
export function wakeWorkers(turn: Turn): void {
  turn.set(workersSlice, { ...turn.get(workersSlice), asleepUntilMs: 0 });
  turn.disarm(Mailer.timers.wake);
  startWorkers(turn);
}

/** Starts no worker before this time. */
export function sleepUntil(turn: Turn, untilMs: number): void {
  turn.set(workersSlice, { ...turn.get(workersSlice), asleepUntilMs: untilMs });
  turn.arm(Mailer.timers.wake, untilMs, null);
}

/** Starts this worker, also if it has run before. */
export function runWorker(turn: Turn, worker: number): void {
  setMail(turn, worker, null);
  turn.start(keyed(Mailer.jobs.deliver, String(worker)), { worker });
}

export function stopWorker(turn: Turn, worker: number): void {
  const state = turn.get(workersSlice);
  const { [worker]: _, ...running } = state.running;
  turn.set(workersSlice, { ...state, running });
}

export function setMail(turn: Turn, worker: number, id: string | null): void {
  const state = turn.get(workersSlice);
  turn.set(workersSlice, { ...state, running: { ...state.running, [worker]: id } });
}
