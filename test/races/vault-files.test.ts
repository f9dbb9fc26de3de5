/** Files of shared vaults while hosts die around any commit: none is lost, and every byte counts once. */
import test, { type ExecutionContext } from 'ava';
import { file as fileTable } from '../../actors/files/tables.ts';
import { bob } from '../kit/account.ts';
import { atEveryCommit, Death } from '../kit/death.ts';
import type { Device } from '../kit/device.ts';
import { RemoteFile, usedBytes, VaultFile } from '../kit/files.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { join, makeVault, rowsOf } from '../kit/vaults.ts';

const bytes = Buffer.alloc(300, 7);
const longerThanAnyCallMs = 40_000;

interface Scene {
  readonly server: TestServer;
  readonly death: Death;
  readonly alice: Device;
  readonly member: Device;
  readonly vault: string;
  readonly other: string;
}

async function startScene(t: ExecutionContext): Promise<Scene> {
  const death = new Death();
  const server = await startServer(t, { host: { schedule: death.schedule } });
  const alice = await server.device();
  const member = await server.device(bob.email);
  const [vault, other] = [await makeVault(alice), await makeVault(member)];
  await join(alice, vault, member);
  await server.advance(5_000);
  return { server, death, alice, member, vault, other };
}

/** Whether the host died. The next host answers or gives up its unfinished work. */
async function dying(
  { server, death }: Scene,
  commit: number,
  isApplied: boolean,
  call: () => Promise<unknown>,
  deadForMs = 0,
) {
  death.plan(commit, isApplied);
  let isOver = false;
  const answered = call()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  await server.until(() => isOver || death.isDead, 5_000);
  if (!death.isDead) await server.advance(1_000);
  const { isDead } = death;
  if (isDead) await server.advance(deadForMs);
  death.over();
  if (isDead) await server.restart();
  await server.answered(answered, 60_000);
  await server.advance(60_000);
  return isDead;
}

async function homesOf({ host }: TestServer, uuids: readonly string[]): Promise<readonly string[]> {
  const all = { after: 0, through: Number.MAX_SAFE_INTEGER, limit: 10 };
  const read = await host.store.read(
    uuids.map((owner) => ({ read: 'range' as const, table: fileTable, owner, ...all })),
  );
  return read.flatMap(({ rows }) => rows.map((row) => String(row['owner_uuid'])));
}

const types = ['user-to-shared-vault', 'shared-vault-to-user', 'shared-vault-to-shared-vault'] as const;

for (const type of types) {
  test(`a file is in one place, whole and counted once, when a host dies at any commit of its move (${type})`, async (t) => {
    const deaths = await atEveryCommit(async (commit, isApplied) => {
      const scene = await startScene(t);
      const { server, alice, member, vault, other } = scene;
      const personal = new RemoteFile(member);
      const inVault = new VaultFile(member, vault, personal.remoteIdentifier);
      const inOther = new VaultFile(member, other, personal.remoteIdentifier);
      const [source, target] =
        type === 'user-to-shared-vault'
          ? [personal, inVault]
          : [inVault, type === 'shared-vault-to-user' ? personal : inOther];
      await source.upload(bytes);
      await server.advance(1_000);
      const more = {
        move_operation_type: type,
        shared_vault_to_shared_vault_move_target_uuid: other,
      };
      const moves = async () => {
        const { body } = await inVault.askForToken('move', 0, more);
        return inVault.call('POST', '/move', body.valetToken);
      };
      const isDead = await dying(scene, commit, isApplied, moves);

      const homes = await homesOf(server, [member.account.userUuid, vault, other]);
      t.is(homes.length, 1);
      const [home] = homes;
      const uuidOf = (file: RemoteFile) =>
        file instanceof VaultFile ? file.vault : file.device.account.userUuid;
      t.true(home === uuidOf(source) || home === uuidOf(target));
      if (home === uuidOf(source)) t.is((await server.answered(moves(), 60_000)).status, 200);
      await server.advance(60_000);
      t.deepEqual(await target.download(300), bytes);
      const vaultBytes = [vault, other].map(async (each) => (await rowsOf(server, each)).vault?.file_bytes);
      t.deepEqual(await Promise.all(vaultBytes), [
        target === inVault ? 300 : 0,
        target === inOther ? 300 : 0,
      ]);
      t.deepEqual(
        [await usedBytes(alice), await usedBytes(member)],
        target === inVault ? [300, 0] : [0, 300],
      );
      t.is((await target.remove()).status, 200);
      await server.advance(1_000);
      t.is(server.files.blobs.size, 0);
      return isDead;
    });
    t.log(`${deaths} deaths`);
    t.true(deaths >= 6);
  });
}

test('a file is in one place when a host dies at any commit of its move, and nobody is left to ask again', async (t) => {
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const scene = await startScene(t);
    const { server, member, vault, other } = scene;
    const personal = new RemoteFile(member);
    await personal.upload(bytes);
    await server.advance(1_000);
    const file = new VaultFile(member, vault, personal.remoteIdentifier);
    const { body } = await file.askForToken('move', 0, { move_operation_type: 'user-to-shared-vault' });
    const moves = () => file.call('POST', '/move', body.valetToken);
    const isDead = await dying(scene, commit, isApplied, moves, longerThanAnyCallMs);
    t.is((await homesOf(server, [member.account.userUuid, vault, other])).length, 1);
    return isDead;
  });
  t.true(deaths >= 6);
});

test('an upload into a vault counts once for its owner, whichever commit a host dies at', async (t) => {
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const scene = await startScene(t);
    const { server, alice, member, vault } = scene;
    const file = new VaultFile(member, vault);
    const isDead = await dying(scene, commit, isApplied, () => file.upload(bytes));
    const read = await file.read(await file.token('read'), 'bytes=0-');
    if (read.status === 404) await file.upload(bytes);
    await server.advance(1_000);
    t.is(await usedBytes(alice), 300);
    t.is((await rowsOf(server, vault)).vault?.file_bytes, 300);
    t.is((await file.remove()).status, 200);
    await server.advance(7_300_000);
    t.is(await usedBytes(alice), 0);
    t.is(server.files.blobs.size, 0);
    return isDead;
  });
  t.true(deaths >= 6);
});

test('one of several simultaneous moves takes the file, and no byte is counted twice', async (t) => {
  const { server, alice, member, vault, other } = await startScene(t);
  const personal = new RemoteFile(member);
  await personal.upload(bytes);
  const files = [vault, other].map((each) => new VaultFile(member, each, personal.remoteIdentifier));
  const answers = await Promise.all(
    [...files, ...files].map(async (file) => {
      const { body } = await file.askForToken('move', 0, { move_operation_type: 'user-to-shared-vault' });
      return file.call('POST', '/move', body.valetToken);
    }),
  );
  t.true(answers.some(({ status }) => status === 200));
  await server.advance(60_000);
  t.is((await homesOf(server, [member.account.userUuid, vault, other])).length, 1);
  t.is((await usedBytes(alice)) + (await usedBytes(member)), 300);
});

test('a file that moves while the sweep comes by is named throughout', async (t) => {
  const { server, member, vault } = await startScene(t);
  const personal = new RemoteFile(member);
  await personal.upload(bytes);
  const file = new VaultFile(member, vault, personal.remoteIdentifier);
  await server.advance(30 * 3_600_000);
  const { body } = await file.askForToken('move', 0, { move_operation_type: 'user-to-shared-vault' });
  t.is((await file.call('POST', '/move', body.valetToken)).status, 200);
  for (let day = 0; day < 3; day += 1) await server.advance(24 * 3_600_000);
  t.deepEqual(await file.download(300), bytes);
});

test('a file that was moved goes on only when its source has finalized, and is in one place, whichever commit a host dies at', async (t) => {
  let waited = 0;
  await atEveryCommit(async (commit, isApplied) => {
    const scene = await startScene(t);
    const { server, death, member, vault, other } = scene;
    const personal = new RemoteFile(member);
    await personal.upload(bytes);
    await server.advance(1_000);
    const file = new VaultFile(member, vault, personal.remoteIdentifier);
    const into = { move_operation_type: 'user-to-shared-vault' };
    const on = {
      move_operation_type: 'shared-vault-to-shared-vault',
      shared_vault_to_shared_vault_move_target_uuid: other,
    };
    const moves = async (more: object) => {
      const { body } = await file.askForToken('move', 0, more);
      return file.call('POST', '/move', body.valetToken);
    };
    const { body } = await file.askForToken('move', 0, into);
    death.plan(commit, isApplied);
    let isOver = false;
    file
      .call('POST', '/move', body.valetToken)
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
    await server.until(() => isOver || death.isDead, 5_000);
    if (!death.isDead) await server.advance(1_000);
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart();
    const owners = [member.account.userUuid, vault, other];
    if ((await homesOf(server, owners)).length === 2) {
      t.is((await server.answered(moves(on), 60_000)).status, 503);
      waited += 1;
    }
    await server.advance(60_000);
    if ((await homesOf(server, owners))[0] === vault) {
      t.is((await server.answered(moves(on), 60_000)).status, 200);
      await server.advance(60_000);
      t.deepEqual(await homesOf(server, owners), [other]);
    }
    t.is((await homesOf(server, owners)).length, 1);
    return isDead;
  });
  t.true(waited > 0);
});
