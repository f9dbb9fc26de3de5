import test from 'ava';
import fc from 'fast-check';
import { armed, checkedIn, nextWatchMs, type Switch, watched } from './switch.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const states = ['armed', 'queued', 'waiting', 'sent'] as const;

const made = (changes: Partial<Switch> = {}): Switch => ({
  uuid: 'u',
  contents: new Uint8Array(),
  intervalDays: 30,
  createdAtMs: 0,
  lastCheckInAtMs: null,
  round: 1,
  ...armed(0, 30 * dayMs),
  ...changes,
});

/** Wakes it as its timer does, save while nobody is there. Returns the notices and their times. */
function lived(
  start: Switch,
  untilMs: number,
  graceMs: number,
  [awayFromMs, backMs]: readonly [number, number],
) {
  const notices: { readonly what: string; readonly atMs: number; readonly deadlineMs: number }[] = [];
  let current = start;
  for (let atMs = 0, turns = 0; ; turns += 1) {
    const dueMs = nextWatchMs(current, atMs);
    if (dueMs === undefined || dueMs > untilMs) return notices;
    atMs = Math.max(atMs, dueMs);
    if (atMs >= awayFromMs && atMs < backMs) atMs = backMs;
    const { after, telling } = watched(current, atMs, graceMs);
    if (telling !== undefined) notices.push({ what: telling, atMs, deadlineMs: current.deadlineMs });
    current = after;
    if (turns > 500) throw new Error('its timer never rests');
  }
}

test('whenever the server is away, a switch fires once, never early, and gives the lost time back', (t) => {
  const time = fc.integer({ min: 0, max: 35 * dayMs });
  const near = fc.integer({ min: 29 * dayMs - 3 * hourMs, max: 30 * dayMs + 3 * hourMs });
  fc.assert(
    fc.property(fc.oneof(time, near), fc.oneof(time, near), fc.constantFrom(0, dayMs), (a, b, graceMs) => {
      const [awayFromMs, backMs] = [Math.min(a, b), Math.max(a, b)];
      const deadlineMs = 30 * dayMs;
      const notices = lived(made(), 100 * dayMs, graceMs, [awayFromMs, backMs]);
      const fired = notices.filter(({ what }) => what === 'fire');
      if (fired.length !== 1 || fired.some((each) => each.atMs < each.deadlineMs)) return false;
      const firedAtMs = fired[0]?.atMs ?? 0;
      const atOnceMs = awayFromMs < deadlineMs ? Math.max(deadlineMs, backMs) : deadlineMs;
      const awayMs = backMs - awayFromMs;
      if (firedAtMs < deadlineMs || firedAtMs > Math.max(deadlineMs, backMs) + graceMs) return false;
      if (graceMs === 0 || awayMs <= 10 * minuteMs) return firedAtMs === atOnceMs;
      if (backMs <= deadlineMs - dayMs || awayFromMs >= deadlineMs) return firedAtMs === deadlineMs;
      const isPassedAway = backMs > deadlineMs && awayMs > 15 * minuteMs;
      return !isPassedAway || firedAtMs >= backMs + Math.min(graceMs, Math.max(hourMs, awayMs));
    }),
    { numRuns: 2_000 },
  );
  t.is(lived(made(), 100 * dayMs, dayMs, [0, 0])[0]?.atMs, 29 * dayMs);
});

test('an outage moves a deadline by no more than twice its length and an hour', (t) => {
  const deadlineMs = 30 * dayMs;
  for (const awayMs of [20 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs]) {
    const backMs = deadlineMs + minuteMs;
    const notices = lived(made(), 100 * dayMs, 30 * dayMs, [backMs - awayMs, backMs]);
    const movedMs = (notices.at(-1)?.atMs ?? 0) - backMs;
    t.true(movedMs >= Math.max(hourMs, awayMs) && movedMs <= 2 * awayMs + hourMs, `${awayMs}: ${movedMs}`);
  }
});

test('a server that comes back shortly before a deadline leaves its owner time, and tells them', (t) => {
  const deadlineMs = 30 * dayMs;
  const backMs = deadlineMs - 2 * minuteMs;
  const notices = lived(made(), 100 * dayMs, dayMs, [backMs - 7 * dayMs, backMs]);
  t.deepEqual(
    notices.map(({ what, atMs }) => [what, atMs]),
    [
      ['warn', backMs],
      ['fire', backMs + dayMs],
    ],
  );
});

test('from every state a check-in begins a round that is armed', (t) => {
  for (const state of states) {
    const after = checkedIn(
      made({ state, round: 7, sendAttempts: 3, nextAttemptAtMs: 5, warnAtMs: null }),
      hourMs,
    );
    t.like(after, {
      state: 'armed',
      round: 8,
      sendAttempts: 0,
      nextAttemptAtMs: null,
      deadlineMs: hourMs + 30 * dayMs,
    });
    t.is(after.warnAtMs, after.deadlineMs - dayMs);
  }
});

test('a watch of any state at any time tells of nothing that is not due, and the same only once', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...states),
      fc.integer({ min: 0, max: 40 * dayMs }),
      fc.option(fc.integer({ min: 0, max: 40 * dayMs }), { nil: null }),
      (state, nowMs, nextAttemptAtMs) => {
        const { after, telling } = watched(made({ state, nextAttemptAtMs, seenAtMs: nowMs }), nowMs, dayMs);
        if (state === 'queued' || state === 'sent') return telling === undefined && after.state === state;
        if (telling === 'fire' && state === 'armed' && nowMs < 30 * dayMs) return false;
        return watched(after, nowMs, dayMs).telling === undefined;
      },
    ),
  );
  t.pass();
});

test('one of a day warns half-way', (t) => {
  t.is(armed(0, dayMs).warnAtMs, dayMs / 2);
});
