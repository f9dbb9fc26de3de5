import { createHash } from 'node:crypto';
import { hashRaw } from '@node-rs/argon2';
import test from 'ava';
import { newChallenge, serverPassword } from './password.ts';

/** Argon2id, whose name is a constant of the types alone. */
const algorithm = 2;

test('the password for the server is what clients derive in version 004', async (t) => {
  const nonce = 'a'.repeat(64);
  const identifier = 'alice@example.org';
  const salt = createHash('sha256').update(`${identifier}:${nonce}`).digest().subarray(0, 16);
  const settings = { salt, algorithm, timeCost: 5, memoryCost: 65_536, parallelism: 1, outputLen: 64 };
  const derived = await hashRaw('correct horse', settings);
  t.is(await serverPassword('correct horse', identifier, nonce), derived.subarray(32).toString('hex'));
});

test('a challenge is the base64url of the hexadecimal digest of its verifier', (t) => {
  const { verifier, challenge } = newChallenge(new Uint8Array(32).fill(7));
  t.is(verifier, '07'.repeat(32));
  const digest = createHash('sha256').update(verifier).digest('hex');
  t.is(challenge, Buffer.from(digest).toString('base64url'));
});
