import test from 'ava';
import { envelopeIn, keyFrom, opened, userKeyFrom } from './envelope.ts';

/** Computed with another program from made-up keys. */
const serverKey = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');
const userKeyHex = 'a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf';
const storedKey =
  '{"version":1,"encrypted":{"iv":"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0","tag":"8818628c6872617d778ea9bb87a0d816","aad":"","ciphertext":"5GGx8zTahBqHM42dek0fofevtSNL3nBQCOuQw0WAST3/HnZ7kbarhaVCOrVstMQRazO+6XEgsaMB93EDlHY/og==","encoding":"utf-8"}}';
const storedSecret =
  '{"version":1,"encrypted":{"iv":"c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1","tag":"4c5dc8007caf3db1112d91e5a3ce501d","aad":"","ciphertext":"36BeqIvHL2mZmmRiopltZwg+rQd6A65Ax8hFlGuMMAk=","encoding":"utf-8"}}';

test('the key of the server opens that of a user, and that one a setting', (t) => {
  const userKey = userKeyFrom(storedKey, serverKey);
  t.is(userKey?.toString('hex'), userKeyHex);
  const envelope = envelopeIn(storedSecret);
  t.is(envelope && userKey && opened(envelope, userKey), 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
});

test('a wrong key, an altered text and an unknown version open nothing', (t) => {
  t.is(userKeyFrom(storedKey, Buffer.alloc(32)), undefined);
  t.is(userKeyFrom(storedKey.replace('5GGx', '5GGy'), serverKey), undefined);
  t.is(userKeyFrom(storedKey.replace('"version":1', '"version":2'), serverKey), undefined);
});

test('a text that is not encrypted is no envelope, whatever is said of it', (t) => {
  for (const text of ['not json at all', '{}', 'null', '"text"', '{"encrypted":{}}'])
    t.is(envelopeIn(text), undefined);
});

test('a key is 64 hexadecimal digits, with whatever is around them in its file', (t) => {
  t.is(keyFrom(`${'ab'.repeat(32)}\n`)?.length, 32);
  t.is(keyFrom('ab'.repeat(31)), undefined);
});
