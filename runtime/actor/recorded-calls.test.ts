import test from 'ava';
import { SeededRandom } from '../../test/kit/random.ts';
import { OverloadedError } from '../errors.ts';
import { callKey, decryptReply, RecordedCalls, recordedCall } from './recorded-calls.ts';

const self = { kind: 'user', id: 'u' };
const reply = { session: { access_token: 'very secret' }, at: 1 };

test('a recorded reply opens under its call id alone', (t) => {
  const row = recordedCall({ self, shard: 3, callId: 'call', reply, at: 5, random: new SeededRandom(1) });
  t.deepEqual(decryptReply('call', row.reply), reply);
  t.throws(() => decryptReply('another call', row.reply));
});

test('neither the call id nor the reply stands in the row', (t) => {
  const row = recordedCall({
    self,
    shard: 3,
    callId: 'call-id-in-plain',
    reply,
    at: 5,
    random: new SeededRandom(1),
  });
  const stored = `${row.call_key} ${row.reply.toString('latin1')}`;
  t.false(stored.includes('call-id-in-plain'));
  t.false(stored.includes('very secret'));
  t.is(row.call_key, callKey('call-id-in-plain'));
});

test('a reply that was tampered with does not open', (t) => {
  const row = recordedCall({ self, shard: 3, callId: 'call', reply, at: 5, random: new SeededRandom(1) });
  for (let at = 0; at < row.reply.length; at += 1) {
    const changed = Buffer.from(row.reply);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => decryptReply('call', changed), undefined, `${at}`);
  }
});

test('an actor that is called again and again drops its oldest recorded calls, but none that may be repeated yet', (t) => {
  const calls = new RecordedCalls(1_000);
  const madeAtMs = new Map<string, number>();
  for (let nowMs = 0; nowMs < 600_000; nowMs += 200) {
    for (const gone of calls.add(`${nowMs}`, nowMs)) {
      t.true((madeAtMs.get(gone) ?? nowMs) < nowMs - 60_000);
      madeAtMs.delete(gone);
    }
    madeAtMs.set(`${nowMs}`, nowMs);
    t.true(madeAtMs.size <= 60_000 / 200 + 202);
  }
  t.is(calls.size, madeAtMs.size);
});

test('an actor records so many calls in the time of their repeats, and more after it', (t) => {
  const calls = new RecordedCalls(3);
  for (const key of ['a', 'b', 'c']) t.deepEqual(calls.add(key, 0), []);
  t.throws(() => calls.add('d', 60_000), { instanceOf: OverloadedError });
  t.deepEqual(calls.add('d', 60_001), []);
});

test('after a rush of recorded calls no commit removes more than a thousand, and they do go', (t) => {
  const calls = new RecordedCalls(20_000);
  for (let made = 0; made < 15_000; made += 1) t.deepEqual(calls.add(`rush ${made}`, made), []);
  const gone = new Set<string>();
  for (let later = 0; later < 15; later += 1) {
    const going = calls.add(`later ${later}`, 80_000);
    t.true(going.length <= 1_000);
    for (const each of going) gone.add(each);
  }
  t.is(gone.size, 14_900);
});
