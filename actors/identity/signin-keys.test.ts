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

test('about half of all unknown addresses are asked for a factor, most of them for a code, always for the same', (t) => {
  const emails = Array.from({ length: 1_000 }, (_, index) => `nobody-${index}@example.org`);
  const factors = emails.map((email) => keys.pseudoFactor({ email, workspace: 'default' }));
  const share = (factor: string | undefined) => factors.filter((each) => each === factor).length / 1_000;
  t.true(Math.abs(share(undefined) - 0.5) < 0.06, `${share(undefined)}`);
  t.true(share('totp') > 0.35);
  t.true(share('security-key') > 0.03);
  t.deepEqual(
    emails.map((email) => keys.pseudoFactor({ email, workspace: 'default' })),
    factors,
  );
});

test('keys that do not exist differ as real ones do, and are always the same for an address', (t) => {
  const emails = Array.from({ length: 400 }, (_, index) => `nobody-${index}@example.org`);
  const all = emails.map((email) => keys.pseudoCredentials({ email, workspace: 'default' }));
  t.deepEqual(
    emails.map((email) => keys.pseudoCredentials({ email, workspace: 'default' })),
    all,
  );
  t.deepEqual(new Set(all.map(({ length }) => length)), new Set([1, 2]));
  const each = all.flat();
  t.is(new Set(each.map(({ id }) => id)).size, each.length);
  const shapes = each.map(({ id, transports }) => `${Buffer.from(id, 'base64url').length} ${transports}`);
  const kinds = ['16 internal,hybrid', '20 internal,hybrid', '32 internal', '48 nfc,usb', '64 usb'];
  t.deepEqual([...new Set(shapes)].toSorted(), kinds);
  t.is(new Set(each.map(({ id }) => id.slice(0, 8))).size, each.length, 'no two begin alike');
});

test('the id of an approval names its actor, and another one is not ours', (t) => {
  const actorId = keys.actorId(address);
  const secret = 'A'.repeat(43);
  const id = keys.approvalId(actorId, secret);
  t.deepEqual(keys.readApprovalId(id), { actorId, secret });
  const another = keys.actorId({ ...address, email: 'bob@example.org' });
  for (const wrong of ['', id.slice(1), `${id}A`, id.replace(actorId, another), id.replace(/.$/, 'B')]) {
    t.is(keys.readApprovalId(wrong), undefined);
  }
});
