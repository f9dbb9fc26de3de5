/**
 * Chooses the relay that may get a mail now. Every attempt is counted before it begins. So neither a crash nor many workers send more
 * than a relay's rate allows in a minute and in a day. A relay that could not send at all is paused, longer each time.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { isUsable, type Relay, relaysOf, relaysSlice } from './relays.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Pauses of a relay. They are short at first, as a code to sign in with is useless after ten minutes. */
const pausesMs = [5_000, 15_000, 30_000, 60_000, 120_000];
const pauseMaxMs = 300_000;

const useSchema = z.object({
  minute: z.int(),
  inMinute: z.int(),
  day: z.int(),
  inDay: z.int(),
  /** Attempts in a row in which it could send nothing at all. */
  failures: z.int(),
  pausedUntilMs: z.number(),
});
type RelayUse = z.infer<typeof useSchema>;

const unused: RelayUse = { minute: 0, inMinute: 0, day: 0, inDay: 0, failures: 0, pausedUntilMs: 0 };

/** Keyed by the id of a relay. */
export const relayUseSlice = slice<Readonly<Record<string, RelayUse>>>({
  name: 'relay-use',
  schema: z.record(z.string(), useSchema),
  initial: {},
});

/** Reads own properties alone: administrators choose the id, and it may be the name of a property that every object has. */
function useOf(view: View, { id }: Relay): RelayUse {
  const uses = view.get(relayUseSlice);
  return (Object.hasOwn(uses, id) ? uses[id] : undefined) ?? unused;
}

function setUse(turn: Turn, { id }: Relay, use: RelayUse): void {
  turn.set(relayUseSlice, { ...turn.get(relayUseSlice), [id]: use });
}

type Choice = { readonly relay: Relay } | { readonly waitUntilMs: number };

/**
 * The first relay that may send now, or the time from which one may; infinity if none ever will. With the policy `none` the
 * first usable relay is the only one, so mail waits for it while it is paused or at its rate.
 */
export function chooseRelay(turn: Turn, tried: readonly string[] = []): Choice {
  const isReplaceable = goesToNext(turn);
  let waitUntilMs = Number.POSITIVE_INFINITY;
  for (const relay of relaysOf(turn)) {
    if (!isUsable(turn, relay) || tried.includes(relay.id)) continue;
    const freeAtMs = freeAt(turn, relay);
    if (freeAtMs <= turn.nowMs) return { relay };
    if (!isReplaceable) return { waitUntilMs: freeAtMs };
    waitUntilMs = Math.min(waitUntilMs, freeAtMs);
  }
  return { waitUntilMs };
}

/** Whether a mail that one relay could not take goes to the next. */
export const goesToNext = (turn: Turn): boolean => turn.get(relaysSlice).fallback === 'next-enabled';

/** Forgets the use of relays that were removed from the list, or were listed again. */
export function forgetUse(turn: Turn, ids: readonly string[]): void {
  const remaining = Object.entries(turn.get(relayUseSlice)).filter(([id]) => !ids.includes(id));
  turn.set(relayUseSlice, Object.fromEntries(remaining));
}

/** Whether a relay in use could not send lately. */
export const isAnyPaused = (view: View): boolean =>
  relaysOf(view).some((relay) => isUsable(view, relay) && useOf(view, relay).failures > 0);

function freeAt(turn: Turn, relay: Relay): number {
  const { minute, inMinute, day, inDay, pausedUntilMs } = useOf(turn, relay);
  const { perMinute, perDay } = relay.rateLimit;
  const isMinuteFull = perMinute !== null && minute === at(turn, minuteMs) && inMinute >= perMinute;
  const isDayFull = perDay !== null && day === at(turn, dayMs) && inDay >= perDay;
  return Math.max(
    pausedUntilMs,
    isMinuteFull ? (minute + 1) * minuteMs : 0,
    isDayFull ? (day + 1) * dayMs : 0,
  );
}

const at = ({ nowMs }: Turn, lengthMs: number): number => Math.floor(nowMs / lengthMs);

/** Call when an attempt through the relay begins. */
export function countAttempt(turn: Turn, relay: Relay): void {
  const use = useOf(turn, relay);
  const minute = at(turn, minuteMs);
  const day = at(turn, dayMs);
  setUse(turn, relay, {
    ...use,
    minute,
    inMinute: (use.minute === minute ? use.inMinute : 0) + 1,
    day,
    inDay: (use.day === day ? use.inDay : 0) + 1,
  });
}

export function pauseRelay(turn: Turn, relay: Relay): void {
  const use = useOf(turn, relay);
  const pauseMs = pausesMs[use.failures] ?? pauseMaxMs;
  setUse(turn, relay, { ...use, failures: use.failures + 1, pausedUntilMs: turn.nowMs + pauseMs });
}

/** Call when the relay has answered. Its pause ends. */
export function resumeRelay(turn: Turn, relay: Relay): void {
  const use = useOf(turn, relay);
  if (use.failures > 0) setUse(turn, relay, { ...use, failures: 0, pausedUntilMs: 0 });
}
