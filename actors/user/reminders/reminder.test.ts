/** Invariants of the schedule of e-mail reminders, for any reminders and at any time. */
import test from 'ava';
import fc from 'fast-check';
import { afterDue, isGone, type Reminder } from './reminder.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const nowMs = 1_800_000_000_000;

const times = fc.oneof(
  fc.integer({ min: nowMs - 30 * dayMs, max: nowMs + 30 * dayMs }),
  fc.constantFrom(nowMs, nowMs - 1, nowMs + 1, nowMs - 7 * dayMs, -8.64e15, 8.64e15),
);
const reminders: fc.Arbitrary<Reminder[]> = fc.array(
  fc.record({
    uuid: fc.uuid(),
    message: fc.constant(new Uint8Array()),
    dueAtMs: times,
    createdAtMs: fc.integer({ min: nowMs - 40 * dayMs, max: nowMs }),
    state: fc.constantFrom('waiting', 'queued', 'sent', 'expired'),
    round: fc.integer({ min: 1, max: 9 }),
    isRecalled: fc.boolean(),
    messageId: fc.constantFrom(null, '<one@home.test>'),
    nextAtMs: times,
  }),
  { maxLength: 40 },
);

const property = (check: (all: Reminder[], after: readonly Reminder[], isOpen: boolean) => boolean) =>
  fc.assert(
    fc.property(reminders, fc.boolean(), (all, isOpen) => check(all, afterDue(all, nowMs, isOpen), isOpen)),
    { numRuns: 1_000, seed: 11 },
  );
const before = (all: readonly Reminder[], { uuid }: Reminder) => all.find((each) => each.uuid === uuid);

test('reminders that are not due, over or queued are left alone, and all others are handled', (t) => {
  property((all, after) => {
    const due = all.filter(({ state, nextAtMs }) => state === 'waiting' && nextAtMs <= nowMs);
    return after.length === due.length && due.every((each) => before(after, each) !== undefined);
  });
  t.pass();
});

test('a reminder that waits on comes back later, and never at once', (t) => {
  property((_all, after) =>
    after.every(({ state, nextAtMs }) => (state === 'waiting' ? nextAtMs > nowMs : true)),
  );
  t.pass();
});

test('nothing is sent while a gate is closed, nor what is over a week late, and of what is late five in a minute', (t) => {
  property((all, after, isOpen) => {
    const queued = after.filter(({ state }) => state === 'queued');
    const ageMs = ({ dueAtMs, createdAtMs }: Reminder) => nowMs - Math.max(dueAtMs, createdAtMs);
    if (!isOpen && queued.length > 0) return false;
    if (queued.some((each) => ageMs(each) > 7 * dayMs)) return false;
    if (after.some((each) => each.state === 'expired' && ageMs(each) <= 7 * dayMs)) return false;
    if (queued.some((each) => before(all, each)?.round !== each.round)) return false;
    return queued.filter((each) => ageMs(each) > 10 * minuteMs).length <= 5;
  });
  t.pass();
});

test('the oldest of the late ones go first, and all of them go if somebody comes back often enough', (t) => {
  fc.assert(
    fc.property(reminders, (all) => {
      let left = all.filter(({ state }) => state === 'waiting').map((each) => ({ ...each, nextAtMs: nowMs }));
      for (let minutes = 0; left.length > 0 && minutes < 60; minutes += 1) {
        const after = afterDue(left, nowMs + minutes * minuteMs, true);
        const sent = after.filter(({ state }) => state === 'queued').map(({ dueAtMs }) => dueAtMs);
        if (sent.some((dueAtMs, index) => dueAtMs < (sent[index - 1] ?? dueAtMs))) return false;
        left = after.filter(({ state }) => state === 'waiting');
      }
      return left.length === 0;
    }),
    { numRuns: 500, seed: 12 },
  );
  t.pass();
});

test('only what is over leaves the list, and not before its time', (t) => {
  property((all) =>
    all.every(
      (each) => !isGone(each, nowMs) || (['sent', 'expired'].includes(each.state) && each.nextAtMs <= nowMs),
    ),
  );
  t.pass();
});
