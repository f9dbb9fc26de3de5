/** Every kind of difference makes `import verify` fail, and what an import refuses does not. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { SecurityKey } from '../kit/security-key.ts';
import { envelope, someTime } from './installation.ts';
import { type Move, type Report, startMove, startMoveFromMariadb } from './moving.ts';

const limitMs = 120_000;
const times = { created_at_timestamp: someTime, updated_at_timestamp: someTime };
const uuidAt = (number: number) => `30000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const member = (vault: string, number: number, permission = 'write') => ({
  uuid: uuidAt(number),
  shared_vault_uuid: vault,
  user_uuid: uuidAt(number),
  permission,
  is_designated_survivor: 0,
  ...times,
});
const invite = (vault: string, number: number) => ({
  uuid: uuidAt(number + 100),
  shared_vault_uuid: vault,
  user_uuid: uuidAt(number),
  sender_uuid: uuidAt(1),
  encrypted_message: 'welcome',
  permission: 'read',
  ...times,
});
const message = (number: number) => ({
  uuid: uuidAt(number),
  recipient_uuid: uuidAt(1),
  sender_uuid: uuidAt(2),
  encrypted_message: 'a key',
  ...times,
});
const notification = (number: number, primaryIdentifier: string) => ({
  uuid: uuidAt(number),
  user_uuid: uuidAt(1),
  type: 'user_added_to_shared_vault',
  payload: JSON.stringify({
    version: '1.0',
    type: 'user_added_to_shared_vault',
    primaryIdentifier,
    primaryIndentifierType: 'shared_vault_uuid',
  }),
  ...times,
});
const authenticator = (number: number) => ({
  uuid: uuidAt(number),
  user_uuid: uuidAt(1),
  credential_id: new SecurityKey().id,
  counter: 7,
  credential_public_key: new SecurityKey().storedPublicKey,
  created_at: '2023-11-14 22:13:20',
  updated_at: '2023-11-14 22:13:20',
});

/** Ada owns a vault. Ben is a member of it, Cyd is invited, Dan is neither. */
async function fill({ there }: Move) {
  const [ada] = await Promise.all([
    there.user('ada@example.org', { uuid: uuidAt(1) }),
    there.user('ben@example.org', { uuid: uuidAt(2) }),
    there.user('cyd@example.org', { uuid: uuidAt(3) }),
    there.user('dan@example.org', { uuid: uuidAt(4) }),
  ]);
  await there.setting(uuidAt(1), 'MUTE_MARKETING_EMAILS', 'muted', { uuid: uuidAt(20) });
  const vault = await there.vault(uuidAt(1), { uuid: uuidAt(10) });
  await there.insert('shared_vault_users', member(vault, 2));
  await there.insert('shared_vault_invites', invite(vault, 3));
  await there.insert('messages', message(30));
  await there.insert('notifications', notification(40, vault));
  await there.insert('authenticators', authenticator(50));
  return { ada, vault };
}

type Change = (move: Move, filled: Awaited<ReturnType<typeof fill>>) => Promise<unknown>;

const changes: Readonly<Record<string, readonly [Change, ...string[]]>> = {
  'an account': [
    ({ there }) => there.user('eve@example.org', { uuid: uuidAt(5) }),
    `account missing ${uuidAt(5)}`,
  ],
  'an account with a vault': [
    async ({ there }) => {
      await there.user('eve@example.org', { uuid: uuidAt(5) });
      await there.vault(uuidAt(5), { uuid: uuidAt(11) });
    },
    `account missing ${uuidAt(5)}`,
    `vault missing ${uuidAt(11)}`,
  ],
  'a new password': [
    ({ there }) => there.run('UPDATE users SET pw_nonce = ? WHERE uuid = ?', ['e'.repeat(64), uuidAt(1)]),
    `key params differs ${uuidAt(1)}`,
  ],
  'a second factor': [
    ({ there }, { ada }) =>
      there.setting(uuidAt(1), 'MFA_SECRET', envelope('JBSWY3DPEHPK3PXP', ada.userKey), {
        uuid: uuidAt(21),
        server_encryption_version: 1,
      }),
    `setting missing ${uuidAt(21)}`,
  ],
  'a setting': [
    ({ there }) => there.setting(uuidAt(1), 'LOG_SESSION_USER_AGENT', 'disabled', { uuid: uuidAt(21) }),
    `setting missing ${uuidAt(21)}`,
  ],
  'another value of a setting': [
    ({ there }) => there.run("UPDATE settings SET value = 'not_muted'"),
    `setting differs ${uuidAt(20)}`,
  ],
  'a setting that is gone': [
    ({ there }) => there.run('DELETE FROM settings'),
    `setting MUTE_MARKETING_EMAILS surplus ${uuidAt(1)}`,
  ],
  'a security key': [
    ({ there }) => there.insert('authenticators', authenticator(51)),
    `security key missing ${uuidAt(51)}`,
  ],
  'a security key that is gone': [
    ({ there }) => there.run('DELETE FROM authenticators'),
    `security key surplus ${uuidAt(50)}`,
  ],
  'a message': [({ there }) => there.insert('messages', message(31)), `message missing ${uuidAt(31)}`],
  'another text of a message': [
    ({ there }) => there.run("UPDATE messages SET encrypted_message = 'another'"),
    `message differs ${uuidAt(30)}`,
  ],
  'a message that was processed': [
    ({ there }) => there.run('DELETE FROM messages'),
    `message surplus ${uuidAt(30)}`,
  ],
  'a notification of another vault': [
    ({ there }) => there.insert('notifications', notification(41, uuidAt(12))),
    `notification missing ${uuidAt(41)}`,
  ],
  'a vault': [({ there }) => there.vault(uuidAt(4), { uuid: uuidAt(11) }), `vault missing ${uuidAt(11)}`],
  'a vault that is gone': [
    async ({ there }) => {
      for (const table of ['shared_vaults', 'shared_vault_users', 'shared_vault_invites'])
        await there.run(`DELETE FROM ${table}`);
    },
    `vault surplus ${uuidAt(10)}`,
  ],
  'a vault with another owner': [
    ({ there }) => there.run('UPDATE shared_vaults SET user_uuid = ?', [uuidAt(2)]),
    `vault differs ${uuidAt(10)}`,
    `member differs ${uuidAt(2)}`,
  ],
  'a survivor of a vault': [
    ({ there }) =>
      there.run('UPDATE shared_vault_users SET is_designated_survivor = 1 WHERE uuid = ?', [uuidAt(2)]),
    `vault differs ${uuidAt(10)}`,
  ],
  'a member': [
    ({ there }, { vault }) => there.insert('shared_vault_users', member(vault, 4)),
    `member missing ${uuidAt(4)}`,
  ],
  'another right of a member': [
    ({ there }) => there.run("UPDATE shared_vault_users SET permission = 'read' WHERE uuid = ?", [uuidAt(2)]),
    `member differs ${uuidAt(2)}`,
  ],
  'a member who has left': [
    ({ there }) => there.run('DELETE FROM shared_vault_users WHERE uuid = ?', [uuidAt(2)]),
    `member surplus ${uuidAt(2)}`,
  ],
  'an invite': [
    ({ there }, { vault }) => there.insert('shared_vault_invites', invite(vault, 4)),
    `invite missing ${uuidAt(104)}`,
  ],
  'another text of an invite': [
    ({ there }) => there.run("UPDATE shared_vault_invites SET encrypted_message = 'other'"),
    `invite differs ${uuidAt(103)}`,
  ],
  'an invite that was answered': [
    ({ there }) => there.run('DELETE FROM shared_vault_invites'),
    `invite surplus ${uuidAt(103)}`,
  ],
};

const namesIn = ({ differences }: Report): string[] =>
  differences.map(({ what, uuid, why }: Record<string, string>) => `${what} ${why} ${uuid}`).toSorted();

for (const [what, [change, ...expected]] of Object.entries(changes)) {
  test(`verify finds since the last pass: ${what}`, async (t) => {
    const move = await startMove(t);
    const filled = await fill(move);
    await move.pass();
    t.like(await move.verify(), { same: true, differences: [] });
    await change(move, filled);
    const compared = await move.verify(65);
    t.deepEqual(namesIn(compared), expected.toSorted());
    await move.pass();
    t.like(await move.verify(), { same: true, differences: [] });
  });
}

test('before any import everything is missing', async (t) => {
  const move = await startMove(t);
  const { vault } = await fill(move);
  const compared = await move.verify(65);
  const accounts = [1, 2, 3, 4].map((number) => `account missing ${uuidAt(number)}`);
  t.like(compared, { same: false, accounts: 0, notImported: 0 });
  t.deepEqual(namesIn(compared), [...accounts, `vault missing ${vault}`]);
});

test('from MariaDB: verify counts vaults, members and invites, and misses a later member', async (t) => {
  t.timeout(limitMs);
  const move = await startMoveFromMariadb(t);
  const { vault } = await fill(move);
  await move.pass();
  t.like(await move.verify(), { same: true, vaults: 1, members: 2, invites: 1 });
  await move.there.insert('shared_vault_users', member(vault, 4));
  t.deepEqual(namesIn(await move.verify(65)), [`member missing ${uuidAt(4)}`]);
});

test('what an import refuses is not missing', async (t) => {
  const move = await startMove(t);
  const { there } = move;
  await move.world.server.device('alice@example.org');
  await there.user(null);
  await there.user('none@example.org', { pw_nonce: null });
  await there.user('alice@example.org');
  await there.user('Two@example.org');
  const { uuid } = await there.user('two@example.org');
  await there.item(uuid, { content_type: 'SN|Old|Kind' });
  await there.setting(uuid, 'MUTE_FAILED_BACKUPS_EMAILS', 'muted');
  await there.insert('notifications', { ...notification(40, uuid), user_uuid: uuid, type: 'of-no-client' });
  const earlier = { ...notification(41, uuid), user_uuid: uuid, created_at_timestamp: someTime - 1 };
  await there.insert('notifications', earlier);
  await there.insert('notifications', { ...notification(42, uuid), user_uuid: uuid });
  await move.pass(undefined, 65);
  t.like(await move.verify(), { same: true, accounts: 1, notImported: 4, settings: 0, notifications: 1 });
});

test('a second factor that was dropped is a difference, and one whose account is locked is none', async (t) => {
  const move = await startMove(t);
  const { uuid, userKey } = await move.there.user('ben@example.org');
  const secret = envelope('JBSWY3DPEHPK3PXP', userKey);
  await move.there.setting(uuid, 'MFA_SECRET', secret, { server_encryption_version: 1 });
  const withoutKey = ['import', 'verify', '--from', move.from, '--report', move.reportFile, '--json'];
  const verify = async () => {
    const { out } = await move.whileClosed(() => move.run(...withoutKey));
    return namesIn(JSON.parse(out));
  };
  await move.pass(['--without-key', 'lock'], 65);
  t.deepEqual(await verify(), []);
  await move.pass(['--without-key', 'drop'], 65);
  t.deepEqual(await verify(), [`second factor missing ${uuid}`]);
});

test('a byte of a file that is another, and a file that is not here, are differences', async (t) => {
  const move = await startMove(t);
  const { uuid } = await move.there.user('ada@example.org');
  const folder = join(move.folder, 'uploads', uuid);
  mkdirSync(folder, { recursive: true });
  const [altered, added] = [randomUUID(), randomUUID()];
  const content = randomBytes(1_000);
  writeFileSync(join(folder, altered), content);
  const from = ['--files', join(move.folder, 'uploads')];
  const key = ['--source-key-file', join(move.folder, 'key')];
  await move.pass([...key, ...from]);
  content.writeUInt8(content.readUInt8(500) ^ 1, 500);
  writeFileSync(join(folder, altered), content);
  writeFileSync(join(folder, added), content);
  const verify = ['import', 'verify', '--from', move.from, ...key, ...from, '--report', move.reportFile];
  const ended = await move.whileClosed(() => move.run(...verify, '--json'));
  t.is(ended.code, 65);
  const expected = [`file differs ${altered}`, `file missing ${added}`];
  t.deepEqual(namesIn(JSON.parse(ended.out)), expected);
});
