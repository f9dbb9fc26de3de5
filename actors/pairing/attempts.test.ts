import { createHash } from 'node:crypto';
import test from 'ava';
import { attemptOf } from './attempts.ts';

test('an attempt is found by its state until its time is over', (t) => {
  const state = 'A'.repeat(43);
  const attempt = {
    stateHash: createHash('sha256').update(state).digest('hex'),
    verifier: 'v',
    startedBy: 'a',
    endsAtMs: 1_000,
    claim: null,
  };
  const attempts = new Map([['default', attempt]]);
  t.deepEqual(attemptOf(attempts, state, 999), ['default', attempt]);
  t.is(attemptOf(attempts, state, 1_000), undefined);
  t.is(attemptOf(attempts, 'B'.repeat(43), 0), undefined);
});
