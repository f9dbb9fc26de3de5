import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import test from 'ava';
import * as fc from 'fast-check';
import { linkKeyOf, unseal } from './sealed.ts';

const keyHex = 'ab'.repeat(32);
const nonce = Buffer.alloc(24, 5);
const key = Buffer.from(keyHex, 'hex');
const note = { title: 'Title', text: 'Text' };

function payloadOf(plain: string, encoding: BufferEncoding = 'base64'): string {
  const ciphertext = Buffer.from(xchacha20poly1305(key, nonce).encrypt(Buffer.from(plain))).toString(
    encoding,
  );
  return JSON.stringify({ v: 1, nonce: nonce.toString('hex'), ciphertext });
}
const opened = (plain: unknown) => unseal(payloadOf(JSON.stringify(plain)), key);

test('a note and the notes of a tag are opened, in either alphabet of base64, padded or not', (t) => {
  t.deepEqual(opened({ kind: 'note', ...note }), { opened: 'notes', title: undefined, notes: [note] });
  t.deepEqual(opened({ kind: 'tag', title: 'Tag', notes: [note, note] }), {
    opened: 'notes',
    title: 'Tag',
    notes: [note, note],
  });
  const plain = JSON.stringify({ kind: 'note', title: '', text: `${'ÿ?>ÿ~'.repeat(50)}.` });
  const expected = unseal(payloadOf(plain), key);
  t.is(expected.opened, 'notes');
  t.regex(payloadOf(plain), /[+/].*=/);
  t.deepEqual(unseal(payloadOf(plain, 'base64url'), key), expected);
});

test('a note sealed by libsodium is opened', (t) => {
  const sealed = {
    v: 1,
    nonce: '6465666768696a6b6c6d6e6f707172737475767778797a7b',
    ciphertext:
      'B1GS2ZFKq7ilXvJLw02R6y/SJh2BDvCSyicLygsyEXLYaScXWdvV68hyAGQgdDJzUofu3DaOG8TxLXZdXpq45MSLy2TucWUBaQ/8',
  };
  const sodiumKey = Uint8Array.from({ length: 32 }, (_, index) => index);
  t.deepEqual(unseal(JSON.stringify(sealed), sodiumKey), {
    opened: 'notes',
    title: undefined,
    notes: [{ title: 'From libsodium', text: '<b>é</b>' }],
  });
});

test('a note is opened as it was sealed, whatever it says', (t) => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (title, body) => {
      t.deepEqual(opened({ kind: 'note', title, text: body }), {
        opened: 'notes',
        title: undefined,
        notes: [{ title, text: body }],
      });
    }),
    { numRuns: 50 },
  );
});

test('another key opens nothing, and neither does a changed text', (t) => {
  const payload = payloadOf(JSON.stringify({ kind: 'note', ...note }));
  t.is(unseal(payload, Buffer.alloc(32)).opened, 'wrong-key');
  const sealed = JSON.parse(payload);
  const bytes = Buffer.from(sealed.ciphertext, 'base64');
  for (const index of [0, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    const ciphertext = changed.toString('base64');
    t.is(unseal(JSON.stringify({ ...sealed, ciphertext }), key).opened, 'wrong-key');
  }
  t.is(unseal(JSON.stringify({ ...sealed, ciphertext: 'AAAA' }), key).opened, 'wrong-key');
});

test('a payload sealed in another way is told from a wrong key', (t) => {
  const sealed = JSON.parse(payloadOf('{}'));
  const unknown = ['', '{', 'null', '[]', '"text"', '7'];
  const others = [{ v: 2 }, { nonce: 'ab' }, { nonce: 5 }, { ciphertext: '*' }, { ciphertext: null }];
  for (const payload of [...unknown, ...others.map((other) => JSON.stringify({ ...sealed, ...other }))]) {
    t.is(unseal(payload, key).opened, 'unsupported', payload);
  }
});

test('a share of an account, and whatever else is no note and no tag, is given as it is', (t) => {
  for (const plain of [
    { kind: 'account', items: [] },
    { kind: 'note', title: 'no text' },
    { kind: 'tag', title: '', notes: [{ title: 'a' }] },
    { kind: 'tag', notes: [null] },
    [],
    null,
  ]) {
    t.deepEqual(opened(plain), { opened: 'other', text: JSON.stringify(plain) });
  }
  t.deepEqual(unseal(payloadOf('no JSON'), key), { opened: 'other', text: 'no JSON' });
});

test('a key is 64 hexadecimal digits', (t) => {
  t.deepEqual(linkKeyOf(keyHex), Uint8Array.from(key));
  t.deepEqual(linkKeyOf(keyHex.toUpperCase()), Uint8Array.from(key));
  for (const hex of ['', keyHex.slice(1), `${keyHex}0`, `g${keyHex.slice(1)}`, ` ${keyHex.slice(1)}`]) {
    t.is(linkKeyOf(hex), undefined, hex);
  }
});
