import { scryptSync } from 'node:crypto';
import test from 'ava';
import { createCalendarTokenHasher } from './calendar-tokens.ts';

test("a calendar program's secret is kept as a scrypt hash, another one for each salt", async (t) => {
  const hasher = createCalendarTokenHasher({ concurrent: 1, waiting: 1 });
  const [salt, another] = ['00'.repeat(16), 'ff'.repeat(16)];
  const hash = await hasher.hash('secret', salt, ['key']);
  const expected = scryptSync('secret', Buffer.from(salt, 'hex'), 64, { N: 16_384, r: 8, p: 1 });
  t.is(hash, expected.toString('hex'));
  t.not(await hasher.hash('secret', another, ['key']), hash);
});
