import test from 'ava';
import fc from 'fast-check';
import {
  type AttemptCounters,
  countersAfterFailure,
  currentAttempts,
  isLocked,
  needsCaptcha,
  zeroCounters,
} from './attempts.ts';

const limits = {
  plainAttemptsMax: 6,
  plainLockoutMs: 3_600_000,
  captchaAttemptsMax: 6,
  captchaLockoutMs: 86_400_000,
};

function failures(count: number, from: AttemptCounters = zeroCounters, nowMs = 0): AttemptCounters {
  let attempts = from;
  for (let index = 0; index < count; index += 1) attempts = countersAfterFailure(attempts, nowMs, limits);
  return attempts;
}

test('six plain failures ask for a captcha, six more lock', (t) => {
  t.false(needsCaptcha(failures(5), limits));
  t.true(needsCaptcha(failures(6), limits));
  t.false(isLocked(failures(11), limits));
  t.true(isLocked(failures(12), limits));
});

test('a counter is forgotten its time after the last failure', (t) => {
  const five = failures(5, zeroCounters, 0);
  const six = countersAfterFailure(five, 3_599_999, limits);
  t.is(currentAttempts(six, 7_199_998).plain.count, 6);
  t.is(currentAttempts(six, 7_199_999).plain.count, 0);
});

test('captcha failures outlive the plain ones and go on asking for a captcha', (t) => {
  const seven = failures(7);
  const later = currentAttempts(seven, 3_600_000);
  t.is(later.plain.count, 0);
  t.true(needsCaptcha(later, limits));
  t.false(needsCaptcha(currentAttempts(seven, 86_400_000), limits));
});

test('with any pauses, a window of one plain lock-out sees at most twelve attempts', (t) => {
  const pauses = fc.array(fc.integer({ min: 0, max: 600_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(pauses, (pausesMs) => {
      let attempts = zeroCounters;
      let nowMs = 0;
      const madeAtMs: number[] = [];
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        attempts = currentAttempts(attempts, nowMs);
        if (isLocked(attempts, limits)) continue;
        attempts = countersAfterFailure(attempts, nowMs, limits);
        madeAtMs.push(nowMs);
        t.true(madeAtMs.filter((ms) => nowMs - ms < limits.plainLockoutMs).length <= 12);
      }
    }),
  );
});
