import test from 'ava';
import { createKeyring } from '../../runtime/keyring.ts';
import { createShareIds } from './share-ids.ts';

const ids = createShareIds(createKeyring(Buffer.alloc(32, 1)));
const others = createShareIds(createKeyring(Buffer.alloc(32, 2)));
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const made = Array.from({ length: 200 }, (_, n) => ids.idOf({ userUuid: 'a', callId: String(n) }));

test('an id looks like any other uuid, and only its maker knows it', (t) => {
  t.is(new Set(made).size, made.length);
  for (const id of made) {
    t.regex(id, uuid4);
    t.is(ids.read(id), id);
    t.is(ids.read(id.toUpperCase()), id);
    t.is(others.read(id), undefined);
  }
});

test('a repeat of the call makes the same id, another call or user does not', (t) => {
  const call = { userUuid: 'a', callId: 'b' };
  t.is(ids.idOf(call), ids.idOf(call));
  t.not(ids.idOf(call), ids.idOf({ ...call, userUuid: 'c' }));
  t.not(ids.idOf(call), ids.idOf({ ...call, callId: 'c' }));
});

test('no digit of an id can be changed', (t) => {
  const [id = ''] = made;
  for (let at = 0; at < id.length; at += 1) {
    const other = id[at] === '0' ? '1' : '0';
    t.is(ids.read(`${id.slice(0, at)}${other}${id.slice(at + 1)}`), undefined, `digit ${at}`);
  }
  for (const text of ['', 'x', id.slice(1), `${id}0`, id.replaceAll('-', '')])
    t.is(ids.read(text), undefined);
});

test('a million guesses hit nothing', (t) => {
  for (let n = 0; n < 1_000_000; n += 1) {
    const guess = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
    if (ids.read(guess) !== undefined) t.fail(guess);
  }
  t.pass();
});
