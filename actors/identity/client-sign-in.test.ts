import { createHash } from 'node:crypto';
import test from 'ava';
import { newChallenge } from './client-sign-in.ts';

test('a challenge is the base64url of the hexadecimal digest of its verifier', (t) => {
  const { verifier, challenge } = newChallenge(new Uint8Array(32).fill(7));
  t.is(verifier, '07'.repeat(32));
  const digest = createHash('sha256').update(verifier).digest('hex');
  t.is(challenge, Buffer.from(digest).toString('base64url'));
});
