import test from 'ava';
import { createKeyring } from '../../runtime/keyring.ts';
import { createSigninKeys } from './signin-keys.ts';

const keys = createSigninKeys(createKeyring(Buffer.alloc(32, 1)));
const address = { email: 'alice@example.org', workspace: 'default' };

test('the id derived from an address is 64 hex characters, the same on every start', (t) => {
  for (const name of ['actorId', 'pseudoNonce'] as const) {
    t.regex(keys[name](address), /^[0-9a-f]{64}$/);
    t.is(createSigninKeys(createKeyring(Buffer.alloc(32, 1)))[name](address), keys[name](address));
  }
});

test('it differs between addresses, workspaces, purposes and servers', (t) => {
  const otherServer = createSigninKeys(createKeyring(Buffer.alloc(32, 2)));
  const derived = [
    keys.actorId(address),
    keys.pseudoNonce(address),
    keys.actorId({ ...address, email: 'bob@example.org' }),
    keys.actorId({ ...address, workspace: 'work' }),
    keys.actorId({ email: 'default', workspace: 'alice@example.org' }),
    otherServer.actorId(address),
    otherServer.pseudoNonce(address),
  ];
  t.is(new Set(derived).size, derived.length);
});
