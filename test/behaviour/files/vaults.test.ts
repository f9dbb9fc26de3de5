/** Files of shared vaults over HTTP (docs/protocol/files.md, "Files of shared vaults"). */
import test, { type ExecutionContext } from 'ava';
import { type Device, deleteAccount } from '../../kit/device.ts';
import { ciphertext, fileCall, RemoteFile, usedBytes, VaultFile } from '../../kit/files.ts';
import type { ServerOptions } from '../../kit/server.ts';
import { join, makeVault, type Permission, rowsOf, startSharedVault, vaults } from '../../kit/vaults.ts';

async function startScene(
  t: ExecutionContext,
  permission: Permission = 'write',
  options: ServerOptions = {},
) {
  const scene = await startSharedVault(t, { permission, server: options });
  await scene.server.advance(1_000);
  return scene;
}
type Scene = Awaited<ReturnType<typeof startScene>>;

async function vaultBytes(device: Device, vault: string): Promise<number> {
  const { body } = await device.call('GET', vaults);
  return body.sharedVaults.find(({ uuid }: { uuid: string }) => uuid === vault).file_upload_bytes_used;
}

async function notificationTypes(device: Device): Promise<readonly string[]> {
  const { notifications } = await device.sync({ sync_token: null });
  return (notifications as readonly { type: string }[]).map(({ type }) => type);
}

test('a file that one member uploads can be downloaded by the others, and counts for the owner and the vault', async (t) => {
  const { server, alice, bob: member, vault } = await startScene(t);
  const [before] = (await alice.call('GET', vaults)).body.sharedVaults;
  const chunks = [ciphertext(70_000), ciphertext(18)];
  const file = new VaultFile(member, vault);
  await file.upload(...chunks);
  t.deepEqual(await file.on(alice).download(70_000, 18), Buffer.concat(chunks));
  await server.advance(1_000);
  t.is(await usedBytes(alice), 70_018);
  t.is(await usedBytes(member), 0);
  t.is(await vaultBytes(member, vault), 70_018);
  const [after] = (await alice.call('GET', vaults)).body.sharedVaults;
  t.is(after.updated_at_timestamp, before.updated_at_timestamp);
  for (const device of [alice, member]) {
    t.true((await notificationTypes(device)).includes('shared_vault_file_uploaded'));
  }
  t.is((await file.on(alice).remove()).status, 200);
  await server.advance(1_000);
  t.is(await usedBytes(alice), 0);
  t.is(await vaultBytes(member, vault), 0);
  t.is(server.files.blobs.size, 0);
  for (const device of [alice, member]) {
    t.true((await notificationTypes(device)).includes('shared_vault_file_removed'));
  }
});

test('tokens and answers have the shapes that clients know, and files are below /files as well', async (t) => {
  const { server, bob: member, vault } = await startScene(t);
  const file = new VaultFile(member, vault);
  const minted = await file.askForToken('write', 4);
  t.deepEqual(Object.keys(minted.body), ['valetToken']);
  const base = '/files/v1/shared-vault/files';
  for (const path of ['create-session', 'chunk', 'close-session']) {
    const call = { headers: { 'x-chunk-id': '1' }, ...(path === 'chunk' && { body: 'four' }) };
    const answer = await fileCall(
      server.url,
      'POST',
      `${base}/upload/${path}/`,
      minted.body.valetToken,
      call,
    );
    t.is(answer.status, 200);
    t.true(answer.body.success);
  }
  const call = { headers: { range: 'bytes=0-' } };
  const read = await fileCall(server.url, 'GET', `${base}/`, await file.token('read'), call);
  t.is(read.headers.get('content-range'), 'bytes 0-3/4');
  t.is(read.bytes.toString(), 'four');
});

test('a token is given to those alone who may use it', async (t) => {
  const { server, alice, bob: reader, vault } = await startScene(t, 'read');
  const stranger = await server.device('carol@example.org');
  const own = new VaultFile(alice, vault);
  for (const operation of ['read', 'write', 'delete'] as const) {
    t.is((await own.askForToken(operation, 1)).status, 200);
    const answer = await own.on(reader).askForToken(operation, 1);
    t.is(answer.status, operation === 'read' ? 200 : 400);
    t.is((await own.on(stranger).askForToken(operation, 1)).status, 400);
    const nowhere = new VaultFile(alice, crypto.randomUUID());
    t.is((await nowhere.askForToken(operation, 1)).status, 400);
  }
  t.is((await new VaultFile(alice, vault, '../x').askForToken('read')).body.error.tag, 'invalid-parameters');
  t.is((await new VaultFile(alice, 'x').askForToken('read')).status, 400);
  t.is((await own.askForToken('write', undefined, { unencrypted_file_size: null })).status, 400);
});

const endings: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'the member is removed': ({ alice, bob: member, vault }) =>
    alice.call('DELETE', `${vaults}/${vault}/users/${member.account.userUuid}`),
  'the vault ends': ({ alice, vault }) => alice.call('DELETE', `${vaults}/${vault}`),
  'the session ends': ({ bob: member }) => member.call('POST', '/v1/logout'),
  'the account of the member is deleted': ({ bob: member }) => deleteAccount(member),
};

for (const [when, end] of Object.entries(endings)) {
  for (const permission of ['read', 'write', 'admin'] as const) {
    test(`tokens in hand are worth nothing once ${when} (${permission})`, async (t) => {
      const scene = await startScene(t, permission);
      const { server, alice, bob: member, vault } = scene;
      const file = new VaultFile(member, vault);
      await file.on(alice).upload(ciphertext(100));
      const read = await file.token('read');
      t.is((await file.read(read, 'bytes=0-', 50)).status, 206);
      const other = new VaultFile(member, vault);
      const isReader = permission === 'read';
      const upload = isReader ? undefined : await other.uploadAllBut(ciphertext(30));
      const deletion = isReader ? undefined : await file.token('delete');

      await end(scene);
      await server.advance(1_000);

      const answers = [await file.read(read, 'bytes=0-', 50), await file.read(read, 'bytes=50-')];
      if (upload !== undefined && deletion !== undefined) {
        answers.push(await other.open(upload), await other.chunk(upload, 2, ciphertext(10)));
        answers.push(await other.close(upload), await file.call('DELETE', '', deletion));
      }
      for (const answer of answers) {
        t.is(answer.status, 403);
        t.is(answer.body.error.tag, 'invalid-auth');
      }
      if (when !== 'the vault ends') t.is((await file.on(alice).download(100)).length, 100);
    });
  }
}

test('a member whose permission has become less changes nothing any more', async (t) => {
  const { server, alice, bob: member, vault } = await startScene(t);
  const file = new VaultFile(member, vault);
  const token = await file.uploadAllBut(ciphertext(30));
  await alice.call('DELETE', `${vaults}/${vault}/users/${member.account.userUuid}`);
  await join(alice, vault, member, 'read');
  await server.advance(1_000);
  t.is((await file.close(token)).status, 403);
  t.is(await vaultBytes(alice, vault), 0);
});

test("the owner's quota covers all their vaults and files together", async (t) => {
  const {
    server,
    alice,
    bob: member,
    vault,
  } = await startScene(t, 'write', {
    files: { accountBytesMax: 1_000 },
  });
  await new RemoteFile(alice).upload(ciphertext(300));
  await new VaultFile(member, vault).upload(ciphertext(300));
  await server.advance(1_000);
  t.is(await usedBytes(alice), 600);
  const large = new VaultFile(member, vault);
  const refused = await large.open(await large.token('write', 400));
  t.is(refused.status, 403);
  t.is(refused.body.error.tag, 'no-space');
  const own = new RemoteFile(member);
  await own.upload(ciphertext(1_000));
  t.is(await usedBytes(member), 1_000);
  await new VaultFile(alice, await makeVault(alice)).upload(ciphertext(400));
  await server.advance(1_000);
  t.is(await usedBytes(alice), 1_000);
});

test('bytes of an open upload in a vault are not free for the owner until it ends', async (t) => {
  const {
    server,
    alice,
    bob: member,
    vault,
  } = await startScene(t, 'write', {
    files: { accountBytesMax: 1_000 },
  });
  await new VaultFile(member, vault).uploadAllBut(ciphertext(600));
  const own = new RemoteFile(alice);
  t.is((await own.open(await own.token('write', 400))).body.error.tag, 'no-space');
  await server.advance(7_300_000);
  t.is(server.files.blobs.size, 0);
  await own.upload(ciphertext(900));
  t.is(await usedBytes(alice), 900);
});

test('one member holds some of the room of the owner and a few uploads, and the owner the rest', async (t) => {
  const {
    server,
    alice,
    bob: member,
    vault,
  } = await startScene(t, 'write', {
    files: { accountBytesMax: 1_000 },
  });
  const other = await makeVault(alice);
  await join(alice, other, member);
  const open = async (device: Device, bytes: number, at = vault) => {
    const file = new VaultFile(device, at);
    const token = await file.token('write', bytes);
    const { status } = await file.open(token);
    return { file, token, status };
  };
  const first = await open(member, 500);
  t.is(first.status, 200);
  t.is((await open(member, 300, other)).status, 403);
  t.is((await first.file.open(await first.file.token('write', 700))).status, 200);
  t.is((await open(alice, 200)).status, 200);
  await server.advance(7_300_000);
  const many = [];
  for (let n = 0; n < 9; n += 1) many.push(await open(member, 1, n % 2 === 0 ? vault : other));
  t.deepEqual(
    many.map(({ status }) => status),
    [...Array.from({ length: 8 }, () => 200), 429],
  );
  t.is((await open(alice, 1)).status, 200);
  const [one] = many;
  t.is((await one?.file.chunk(one.token, 1, ciphertext(18)))?.status, 200);
  t.is((await one?.file.close(one.token))?.status, 200);
  await server.advance(1_000);
  t.is((await open(member, 1)).status, 200);
});

test('a member who has left uploads open begins others once nothing was sent to those for ten minutes', async (t) => {
  const { server, bob: member, vault } = await startScene(t, 'write', { files: { accountBytesMax: 10_000 } });
  const open = async () => {
    const file = new VaultFile(member, vault);
    const token = await file.token('write', 100);
    return { file, token, status: (await file.open(token)).status };
  };
  const left = [];
  for (let n = 0; n < 8; n += 1) {
    left.push(await open());
    await server.advance(1_000);
  }
  const [sentTo, oldest, second] = left;
  t.is((await sentTo?.file.chunk(sentTo.token, 1, ciphertext(117)))?.status, 200);
  await server.advance(580_000);
  t.is((await open()).status, 429);
  await server.advance(20_000);
  t.is((await open()).status, 200);
  t.is((await oldest?.file.chunk(oldest.token, 1, ciphertext(117)))?.status, 400);
  t.is((await second?.file.chunk(second.token, 1, ciphertext(117)))?.status, 200);
  t.is((await sentTo?.file.close(sentTo.token))?.status, 200);
  await server.advance(1_000);
  // The closed upload has freed capacity, and so has each of the five empty ones.
  for (let n = 0; n < 6; n += 1) t.is((await open()).status, 200, String(n));
  t.is((await open()).status, 429);
});

test('a file that is too large and has no room is too large, as in an account', async (t) => {
  const { alice, vault } = await startScene(t, 'write', {
    files: { accountBytesMax: 1_000, fileBytesMax: 900 },
  });
  for (const file of [new RemoteFile(alice), new VaultFile(alice, vault)]) {
    t.is((await file.open(await file.token('write', 1_001))).status, 413);
    t.is((await file.open(await file.token('write', 901))).status, 413);
  }
});

test('bytes of an upload make room for the one that begins it anew, by any member', async (t) => {
  const {
    server,
    alice,
    bob: member,
    vault,
  } = await startScene(t, 'write', {
    files: { accountBytesMax: 1_000 },
  });
  const file = new VaultFile(member, vault);
  await file.uploadAllBut(ciphertext(700));
  await file.on(alice).upload(ciphertext(900));
  await server.advance(1_000);
  t.is(await usedBytes(alice), 900);
  const own = new RemoteFile(alice);
  await own.upload(ciphertext(100));
  t.is(await usedBytes(alice), 1_000);
});

test('chunks sent again take room for as long as both are there, and are refused where there is none', async (t) => {
  const { server, bob: member, vault } = await startScene(t, 'write', { files: { accountBytesMax: 1_000 } });
  const file = new VaultFile(member, vault);
  const token = await file.uploadAllBut(ciphertext(400), ciphertext(300));
  t.is((await file.chunk(token, 2, ciphertext(300))).status, 200);
  const refused = await file.chunk(token, 1, ciphertext(400));
  t.is(refused.body.error.tag, 'no-space');
  t.is((await file.close(token)).status, 200);
  await server.advance(1_000);
  t.is((await file.download(700)).length, 700);
});

test('a file that is uploaded again is replaced, and counts once', async (t) => {
  const { server, alice, bob: member, vault } = await startScene(t);
  const file = new VaultFile(member, vault);
  await file.upload(ciphertext(500));
  await file.on(alice).upload(ciphertext(80));
  await server.advance(1_000);
  t.is(await usedBytes(alice), 80);
  t.is(await vaultBytes(alice, vault), 80);
  t.is(server.files.blobs.size, 1);
});

test('a vault that ends leaves no bytes, in the store or in the quota', async (t) => {
  const { server, alice, bob: member, vault } = await startScene(t);
  for (let count = 0; count < 12; count += 1) await new VaultFile(member, vault).upload(ciphertext(10));
  await new VaultFile(member, vault).uploadAllBut(ciphertext(500));
  await server.advance(1_000);
  t.is(await usedBytes(alice), 120);
  t.is((await alice.call('DELETE', `${vaults}/${vault}`)).status, 200);
  await server.advance(1_000);
  t.is(await usedBytes(alice), 0);
  t.is(server.files.blobs.size, 0);
});

test('a survivor has the bytes of what they take over, and the files', async (t) => {
  const { server, alice, bob: member, vault } = await startScene(t);
  const file = new VaultFile(member, vault);
  await file.on(alice).upload(ciphertext(400));
  const begun = await new VaultFile(alice, vault).uploadAllBut(ciphertext(50));
  t.truthy(begun);
  const path = `${vaults}/${vault}/users/${member.account.userUuid}/designate-survivor`;
  t.is((await alice.call('POST', path)).status, 200);
  t.is((await deleteAccount(alice)).status, 200);
  await server.advance(700_000);
  t.is((await rowsOf(server, vault)).vault?.owner_uuid, member.account.userUuid);
  t.is(await usedBytes(member), 400);
  t.is((await file.download(400)).length, 400);
  t.is(server.files.blobs.size, 1);
  await file.upload(ciphertext(100));
  await server.advance(1_000);
  t.is(await usedBytes(member), 100);
});
