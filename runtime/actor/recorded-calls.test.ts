import test from 'ava';
import { SeededRandom } from '../../test/kit/random.ts';
import { callKey, openReply, recordedCall } from './recorded-calls.ts';

const self = { kind: 'user', id: 'u' };
const reply = { session: { access_token: 'very secret' }, at: 1 };

test('a recorded reply opens under its call id alone', (t) => {
  const row = recordedCall(self, 3, 'call', reply, 5, new SeededRandom(1));
  t.deepEqual(openReply('call', row.reply), reply);
  t.throws(() => openReply('another call', row.reply));
});

test('neither the call id nor the reply stands in the row', (t) => {
  const row = recordedCall(self, 3, 'call-id-in-plain', reply, 5, new SeededRandom(1));
  const stored = `${row.call_key} ${row.reply.toString('latin1')}`;
  t.false(stored.includes('call-id-in-plain'));
  t.false(stored.includes('very secret'));
  t.is(row.call_key, callKey('call-id-in-plain'));
});

test('a reply that was tampered with does not open', (t) => {
  const row = recordedCall(self, 3, 'call', reply, 5, new SeededRandom(1));
  for (let at = 0; at < row.reply.length; at += 1) {
    const changed = Buffer.from(row.reply);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => openReply('call', changed), undefined, `${at}`);
  }
});
