import test from 'ava';
import { createKeyring } from '../../runtime/keyring.ts';
import { createSubscriptionTokens } from './subscription-tokens.ts';

const tokens = createSubscriptionTokens(createKeyring(Buffer.alloc(32, 1)));
const claims = {
  userUuid: '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f',
  credentialsVersion: 7,
  endsSeconds: 1_771_000_000,
};

test('a token says what it was made with', (t) => {
  t.deepEqual(tokens.verify(tokens.mint(claims)), claims);
});

test('a token with any character altered, or of another server, is none', (t) => {
  const token = tokens.mint(claims);
  for (let at = 0; at < token.length; at += 1) {
    const altered = `${token.slice(0, at)}${token[at] === '0' ? '1' : '0'}${token.slice(at + 1)}`;
    t.is(tokens.verify(altered), undefined, altered);
  }
  const others = createSubscriptionTokens(createKeyring(Buffer.alloc(32, 2)));
  t.is(others.verify(token), undefined);
  t.is(tokens.verify(token.toUpperCase()), undefined);
  t.is(tokens.verify(`${token}\n`), undefined);
});
