/**
 * The lanes in which mail is sent: each sends one mail after another. A lane is a job (`deliver.ts`) that runs while
 * there is mail that some relay can take; when there is none it leaves, and the next mail, or the time from which a
 * relay can send again, starts one.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { keyed } from '../../runtime/contract.ts';
import { slice } from '../../runtime/slice.ts';
import { Mailer } from './contract.ts';

/** Connections that a relay sees at once: more is impolite, and fewer make a slow relay slower. */
const lanesMax = 4;
/**
 * The only lane that takes mails over `largeBytes`: so one of them is in memory at a time, and whatever else waits has
 * the other lanes.
 */
const largeLane = 0;
const largeBytes = 1_048_576;
const lanes = Array.from({ length: lanesMax }, (_, lane) => lane);

interface Lanes {
  /** By lane that runs, the mail it has leased. */
  readonly running: Readonly<Record<string, string | null>>;
  /** No relay can send before this. */
  readonly asleepUntilMs: number;
}

export const lanesSlice = slice<Lanes>({
  name: 'lanes',
  format: 1,
  schema: z.object({ running: z.record(z.string(), z.string().nullable()), asleepUntilMs: z.number() }),
  initial: { running: {}, asleepUntilMs: 0 },
});

/** One more, if it may. */
export function startLane(turn: Turn): void {
  const { running, asleepUntilMs } = turn.get(lanesSlice);
  if (turn.nowMs < asleepUntilMs) return;
  const free = lanes.find((lane) => running[lane] === undefined);
  if (free !== undefined) startAgain(turn, free);
}

export const isLarge = ({ size }: { readonly size: number }): boolean => size > largeBytes;

export const mayCarry = (lane: number, mail: { readonly size: number }): boolean =>
  lane === largeLane || !isLarge(mail);

/** As many as there are. A lane that finds nothing to do leaves again. */
export function startLanes(turn: Turn): void {
  for (const _ of lanes) startLane(turn);
}

/** What kept all relays from sending is over. */
export function wakeLanes(turn: Turn): void {
  turn.set(lanesSlice, { ...turn.get(lanesSlice), asleepUntilMs: 0 });
  turn.disarm(Mailer.timers.wake);
  startLanes(turn);
}

/** Until then nothing is started. */
export function sleepUntil(turn: Turn, untilMs: number): void {
  turn.set(lanesSlice, { ...turn.get(lanesSlice), asleepUntilMs: untilMs });
  turn.arm(Mailer.timers.wake, untilMs, null);
}

/** This lane, from its beginning. */
export function startAgain(turn: Turn, lane: number): void {
  setMail(turn, lane, null);
  turn.start(keyed(Mailer.jobs.deliver, String(lane)), { lane });
}

export function leaveLane(turn: Turn, lane: number): void {
  const state = turn.get(lanesSlice);
  const { [lane]: _, ...running } = state.running;
  turn.set(lanesSlice, { ...state, running });
}

export function setMail(turn: Turn, lane: number, id: string | null): void {
  const state = turn.get(lanesSlice);
  turn.set(lanesSlice, { ...state, running: { ...state.running, [lane]: id } });
}
