import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { createSocketTokens } from './tokens.ts';

const claims = {
  userUuid: '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f',
  sessionUuid: '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f',
};
const key = Buffer.alloc(32, 1);

test('a token names user and session, for a minute and what clocks may differ by', async (t) => {
  const clock = new FakeClock();
  const tokens = createSocketTokens(key, clock);
  const token = tokens.mint(claims);
  t.deepEqual(tokens.verify(token), claims);
  t.is(encodeURIComponent(token), token);
  await clock.advance(69_000);
  t.deepEqual(tokens.verify(token), claims);
  await clock.advance(2_000);
  t.is(tokens.verify(token), undefined);
});

test('no character of a token can be changed, and no other key makes one', (t) => {
  const clock = new FakeClock();
  const tokens = createSocketTokens(key, clock);
  const token = tokens.mint(claims);
  for (let at = 0; at < token.length - 1; at += 1) {
    const other = token[at] === '1' ? '2' : '1';
    t.is(tokens.verify(token.slice(0, at) + other + token.slice(at + 1)), undefined, `${at}`);
  }
  t.is(createSocketTokens(Buffer.alloc(32, 2), clock).verify(token), undefined);
  for (const text of ['', '....', `${token}x`, token.slice(0, -1), 'x'.repeat(100_000)]) {
    t.is(tokens.verify(text), undefined);
  }
});
