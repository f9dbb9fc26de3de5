import test from 'ava';
import fc from 'fast-check';
import { createKeyring } from '../../runtime/keyring.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { createUserSecrets } from './user-secrets.ts';

const secrets = createUserSecrets(createKeyring(Buffer.alloc(32, 1)));
const mine = { userUuid: 'alice', purpose: 'setting MFA_SECRET' };

test('a sealed secret is opened by the same user for the same purpose, and by nobody else', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 1_000_000 }), (plain, seed) => {
      const sealed = secrets.seal(mine, plain, new SeededRandom(seed));
      t.is(secrets.open(mine, sealed), plain);
      t.throws(() => secrets.open({ ...mine, userUuid: 'bob' }, sealed));
      t.throws(() => secrets.open({ ...mine, purpose: 'setting EXTENSION_KEY' }, sealed));
      const restored = createUserSecrets(createKeyring(Buffer.alloc(32, 2)));
      t.throws(() => restored.open(mine, sealed));
    }),
    { numRuns: 50 },
  );
});

test('a single altered or missing byte is noticed', (t) => {
  const sealed = secrets.seal(mine, 'GEZDGNBV', new SeededRandom(1));
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 1;
    t.throws(() => secrets.open(mine, altered), undefined, `byte ${at}`);
    t.throws(() => secrets.open(mine, sealed.subarray(0, at)), undefined, `cut at ${at}`);
  }
});

test('the plain text is not in the sealed bytes, and the same text is sealed differently each time', (t) => {
  const random = new SeededRandom(1);
  const [first, second] = [
    secrets.seal(mine, 'plain text', random),
    secrets.seal(mine, 'plain text', random),
  ];
  t.false(first.includes('plain text'));
  t.notDeepEqual(first, second);
});
