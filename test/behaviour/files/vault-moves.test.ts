/** Files that move between an account and shared vaults (docs/protocol/files.md, "Moves"). */
import test, { type ExecutionContext } from 'ava';
import { bob } from '../../kit/account.ts';
import type { Device } from '../../kit/device.ts';
import { type FileAnswer, RemoteFile, usedBytes, VaultFile } from '../../kit/files.ts';
import { type ServerOptions, startServer } from '../../kit/server.ts';
import { join, makeVault, type Permission, rowsOf, vaults } from '../../kit/vaults.ts';

async function startScene(
  t: ExecutionContext,
  permission: Permission = 'write',
  options: ServerOptions = {},
) {
  const server = await startServer(t, options);
  const alice = await server.device();
  const member = await server.device(bob.email);
  const [vault, other] = [await makeVault(alice), await makeVault(alice)];
  for (const each of [vault, other]) await join(alice, each, member, permission);
  await server.advance(1_000);
  return { server, alice, member, vault, other };
}

type Type = 'user-to-shared-vault' | 'shared-vault-to-user' | 'shared-vault-to-shared-vault';

const askToMove = (file: VaultFile, type: Type, target?: string) =>
  file.askForToken('move', 0, {
    move_operation_type: type,
    ...(target !== undefined && { shared_vault_to_shared_vault_move_target_uuid: target }),
  });

async function move(file: VaultFile, type: Type, target?: string): Promise<FileAnswer> {
  const { status, body, text } = await askToMove(file, type, target);
  if (status !== 200) throw new Error(text);
  return file.call('POST', '/move', body.valetToken);
}

const bytes = Buffer.alloc(300, 7);

test('a file goes into a vault, to another and home, and counts where it is', async (t) => {
  const { server, alice, member, vault, other } = await startScene(t);
  const own = new RemoteFile(member);
  await own.upload(bytes);
  const file = new VaultFile(member, vault, own.remoteIdentifier);
  const names = [...server.files.blobs.keys()];

  const answer = await move(file, 'user-to-shared-vault');
  t.is(answer.status, 200);
  t.deepEqual(answer.body, { success: true });
  await server.advance(1_000);
  t.deepEqual(await file.on(alice).download(300), bytes);
  t.is((await own.read(await own.token('read'), 'bytes=0-')).status, 404);
  t.deepEqual([await usedBytes(alice), await usedBytes(member)], [300, 0]);
  t.is((await rowsOf(server, vault)).vault?.file_bytes, 300);

  t.is((await move(file, 'shared-vault-to-shared-vault', other)).status, 200);
  await server.advance(1_000);
  const there = new VaultFile(member, other, own.remoteIdentifier);
  t.deepEqual(await there.download(300), bytes);
  t.is((await rowsOf(server, vault)).vault?.file_bytes, 0);
  t.is((await rowsOf(server, other)).vault?.file_bytes, 300);
  t.is(await usedBytes(alice), 300);
  const { notifications } = await alice.sync({ sync_token: null });
  const received = (notifications as readonly { type: string; payload: string }[]).map(
    ({ type, payload }) => `${type}:${JSON.parse(payload).primaryIdentifier}`,
  );
  for (const each of [`uploaded:${vault}`, `removed:${vault}`, `uploaded:${other}`]) {
    t.true(received.includes(`shared_vault_file_${each}`), each);
  }

  t.is((await move(there, 'shared-vault-to-user')).status, 200);
  await server.advance(1_000);
  t.deepEqual(await own.download(300), bytes);
  t.deepEqual([await usedBytes(alice), await usedBytes(member)], [0, 300]);
  t.deepEqual([...server.files.blobs.keys()], names);
  t.is((await own.remove()).status, 200);
  await server.advance(1_000);
  t.is(server.files.blobs.size, 0);
  t.is(await usedBytes(member), 0);
});

test('the token of a move is spent by it, and answered as done when it is repeated', async (t) => {
  const { server, member, vault } = await startScene(t);
  const own = new RemoteFile(member);
  await own.upload(bytes);
  const file = new VaultFile(member, vault, own.remoteIdentifier);
  const token = (await askToMove(file, 'user-to-shared-vault')).body.valetToken;
  t.is((await file.call('POST', '/move', token)).status, 200);
  await own.upload(Buffer.alloc(50, 1));
  t.is((await file.call('POST', '/move', token)).status, 200);
  t.is((await own.download(50)).length, 50);
  await server.advance(1_000);
  t.is((await file.download(300)).length, 300);
});

test('a move needs its type, a target that the member may write to, and a file', async (t) => {
  const { alice, member, vault, server } = await startScene(t);
  const carol = await server.device('carol@example.org');
  const foreign = await makeVault(carol);
  const read = await makeVault(alice);
  await join(alice, read, member, 'read');
  const file = new VaultFile(member, vault);
  t.is((await file.askForToken('move')).status, 400);
  const between = 'shared-vault-to-shared-vault';
  for (const target of [undefined, 'x', vault, foreign, read, crypto.randomUUID()]) {
    t.is((await askToMove(file, between, target)).status, 400, target ?? 'none');
  }
  for (const type of ['user-to-shared-vault', 'shared-vault-to-user'] as const) {
    t.is((await askToMove(new VaultFile(member, read), type)).status, 400);
    t.is((await move(file, type)).status, 400);
  }
});

test('a file that is in the way is not replaced, and nothing moves', async (t) => {
  const { server, alice, member, vault } = await startScene(t);
  const own = new RemoteFile(member);
  await own.upload(bytes);
  const file = new VaultFile(member, vault, own.remoteIdentifier);
  await file.upload(Buffer.alloc(40, 1));
  t.is((await move(file, 'user-to-shared-vault')).status, 400);
  t.is((await move(file, 'shared-vault-to-user')).status, 400);
  await server.advance(1_000);
  t.deepEqual(await own.download(300), bytes);
  t.is((await file.download(40)).length, 40);
  t.deepEqual([await usedBytes(alice), await usedBytes(member)], [40, 300]);
});

test('a file needs room where it goes, but none where it counts already', async (t) => {
  const { server, alice, member, vault, other } = await startScene(t, 'write', {
    files: { accountBytesMax: 500 },
  });
  const large = new RemoteFile(alice);
  await large.upload(bytes);
  const own = new RemoteFile(member);
  await own.upload(bytes);
  const refused = await move(new VaultFile(member, vault, own.remoteIdentifier), 'user-to-shared-vault');
  t.is(refused.status, 403);
  t.is(refused.body.error.tag, 'no-space');
  t.deepEqual(await own.download(300), bytes);
  const file = new VaultFile(alice, vault, large.remoteIdentifier);
  t.is((await move(file, 'user-to-shared-vault')).status, 200);
  await server.advance(1_000);
  t.is((await move(file, 'shared-vault-to-shared-vault', other)).status, 200);
  await server.advance(1_000);
  const home = new VaultFile(member, other, large.remoteIdentifier);
  t.is((await move(home, 'shared-vault-to-user')).body.error.tag, 'no-space');
  await server.advance(1_000);
  t.deepEqual([await usedBytes(alice), await usedBytes(member)], [300, 300]);
});

test('nothing moves to where too much is still to be removed', async (t) => {
  const { server, alice, vault } = await startScene(t, 'write', { files: { accountBytesMax: 500 } });
  server.files.keepAll(true);
  const statuses: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const own = new RemoteFile(alice);
    await own.upload(bytes);
    const file = new VaultFile(alice, vault, own.remoteIdentifier);
    const { status } = await move(file, 'user-to-shared-vault');
    statuses.push(status);
    await server.advance(1_000);
    if (status === 200) t.is((await file.remove()).status, 200);
    await server.advance(1_000);
  }
  t.deepEqual(statuses, [200, 200, 503]);
});

test('tokens of moves are worth nothing to a member who is removed, or may only read now', async (t) => {
  const { server, alice, member, vault } = await startScene(t);
  const own = new RemoteFile(member);
  await own.upload(bytes);
  const file = new VaultFile(alice, vault);
  await file.upload(bytes);
  const out = (await askToMove(file.on(member), 'shared-vault-to-user')).body.valetToken;
  const into = (await askToMove(new VaultFile(member, vault, own.remoteIdentifier), 'user-to-shared-vault'))
    .body.valetToken;
  const tryBoth = async () => {
    for (const token of [out, into]) {
      t.is((await file.call('POST', '/move', token)).body.error.tag, 'invalid-auth');
    }
  };
  await alice.call('DELETE', `${vaults}/${vault}/users/${member.account.userUuid}`);
  await tryBoth();
  await join(alice, vault, member, 'read');
  await tryBoth();
  await server.advance(40_000);
  t.deepEqual(await own.download(300), bytes);
  t.deepEqual(await file.download(300), bytes);
});

const otherUses = (file: VaultFile, personal: RemoteFile, token: string): Promise<FileAnswer[]> =>
  Promise.all([
    personal.open(token),
    personal.read(token, 'bytes=0-'),
    personal.call('DELETE', '', token),
    file.open(token),
    file.read(token, 'bytes=0-'),
    file.call('DELETE', '', token),
  ]);

test('a token of an account does nothing in a vault, nor the other way round, and each does one thing', async (t) => {
  const { alice, vault } = await startScene(t);
  const personal = new RemoteFile(alice);
  await personal.upload(bytes);
  const file = new VaultFile(alice, vault, personal.remoteIdentifier);
  await file.upload(bytes);
  const tokens: readonly (readonly [RemoteFile, Device])[] = [
    [personal, alice],
    [file, alice],
  ];
  for (const [of] of tokens) {
    for (const operation of ['read', 'write', 'delete'] as const) {
      const token = await of.token(operation, 400);
      const wrongSide = of === file ? personal : file;
      for (const answer of [
        await wrongSide.open(token),
        await wrongSide.read(token, 'bytes=0-'),
        await wrongSide.call('DELETE', '', token),
      ]) {
        t.is(answer.status, 403);
        t.is(answer.body.error.tag, 'invalid-auth');
      }
    }
  }
  const moving = (await askToMove(file, 'shared-vault-to-user')).body.valetToken;
  for (const { status } of await otherUses(file, personal, moving)) t.true(status === 403 || status === 400);
  t.is((await file.call('POST', '/move', await file.token('delete'))).status, 400);
  t.is((await personal.download(300)).length, 300);
  t.is((await file.download(300)).length, 300);
});
