/** The history of items that are, or were, in a shared vault, over HTTP. */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import type { Device } from '../../kit/device.ts';
import { fakeVault, tellUser } from '../../kit/fake-vault.ts';
import { inVault, note, uuidNumber } from '../../kit/items.ts';
import type { ServerOptions } from '../../kit/server.ts';
import { join, makeVault, startSharedVault, vaults } from '../../kit/vaults.ts';

const path = `/v2/items/${uuidNumber(1)}/revisions`;

interface Revision {
  readonly uuid: string;
  readonly shared_vault_uuid: string | null;
  readonly edited_by_uuid: string;
}

async function historyOf(t: ExecutionContext, device: Device): Promise<readonly Revision[]> {
  const { status, body } = await device.call('GET', path);
  t.is(status, 200);
  return body.revisions;
}
const read = (device: Device, { uuid }: Revision) => device.call('GET', `${path}/${uuid}`);

/** An item that Alice has put into the vault, and Bob has edited. */
async function started(t: ExecutionContext, options: ServerOptions = {}) {
  const { server, alice, bob, vault } = await startSharedVault(t, { server: options });
  let version = 0;
  const save = async (
    device: Device,
    item: (more: ClientItem) => ClientItem,
    content: string | undefined,
  ) => {
    await device.sync();
    const { saved_items: saved, conflicts } = await device.sync({
      items: [item({ content, updated_at_timestamp: version })],
    });
    t.deepEqual(conflicts, []);
    version = saved[0]?.updated_at_timestamp ?? 0;
    await server.advance(600_000);
  };
  await save(alice, (more) => note(more), 'before');
  await save(alice, (more) => inVault(vault, more), 'joined');
  await save(bob, (more) => inVault(vault, more), 'edited');
  return { server, alice, bob, vault, save };
}

test('members read the history that an item has in the vault, its owner also what was before', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const his = await historyOf(t, bob);
  t.deepEqual(
    his.map((each) => [each.shared_vault_uuid, each.edited_by_uuid]),
    [
      [vault, bob.account.userUuid],
      [vault, alice.account.userUuid],
    ],
  );
  const hers = await historyOf(t, alice);
  t.deepEqual(
    hers.map((each) => each.shared_vault_uuid),
    [vault, vault, null],
  );
  for (const [n, content] of ['edited', 'joined', 'before'].entries()) {
    const revision = hers[n] ?? t.fail();
    t.is((await read(alice, revision)).body.revision.content, content);
    const answer = await read(bob, revision);
    if (content === 'before') t.is(answer.status, 404);
    else t.is(answer.body.revision.content, content);
  }
  const carol = await server.device('carol@example.org');
  t.deepEqual(await historyOf(t, carol), []);
  t.is((await read(carol, hers[0] ?? t.fail())).status, 404);
});

test('with the membership the access to the history ends', async (t) => {
  const { alice, bob, vault } = await started(t);
  const [newest] = await historyOf(t, bob);
  await alice.call('DELETE', `${vaults}/${vault}/users/${bob.account.userUuid}`);
  t.deepEqual(await historyOf(t, bob), []);
  t.is((await read(bob, newest ?? t.fail())).status, 404);
});

test('the history of an item that was taken out is its owner’s, outside the vault', async (t) => {
  const { alice, bob, save } = await started(t);
  await save(alice, (more) => note(more), 'taken out');
  t.deepEqual(await historyOf(t, bob), []);
  const hers = await historyOf(t, alice);
  t.deepEqual(
    hers.map((each) => each.shared_vault_uuid),
    [null, null, null, null],
  );
  const contents = await Promise.all(hers.map(async (each) => (await read(alice, each)).body.revision));
  t.deepEqual(
    contents.map((each) => [each.content, each.key_system_identifier]),
    ['taken out', 'edited', 'joined', 'before'].map((content) => [content, null]),
  );
});

test('the owner of an item deletes its revisions, in the vault and once it is out of it, and nobody else does', async (t) => {
  const { server, alice, bob, save } = await started(t);
  const remove = (device: Device, revision: Revision | undefined) =>
    device.call('DELETE', `${path}/${(revision ?? t.fail()).uuid}`);
  const [newest, joined, before] = await historyOf(t, alice);
  const carol = await server.device('carol@example.org');
  for (const device of [bob, carol]) t.is((await remove(device, newest)).status, 200);
  t.is((await historyOf(t, alice)).length, 3);

  t.is((await remove(alice, newest)).status, 200);
  t.deepEqual(await historyOf(t, alice), [joined, before]);
  t.is((await read(bob, newest ?? t.fail())).status, 404);

  await save(alice, (more) => note(more), 'taken out');
  t.is((await remove(bob, joined)).status, 200);
  t.is((await historyOf(t, alice)).length, 3);
  t.is((await remove(alice, joined)).status, 200);
  t.deepEqual((await historyOf(t, alice)).slice(1), [before]);
});

test('in a vault a duplicate gets the history of what its owner has, and of nothing that another member has', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const copies = [
    { device: alice, uuid: uuidNumber(2), revisions: 3 },
    { device: bob, uuid: uuidNumber(3), revisions: 1 },
  ];
  for (const { device, uuid } of copies) {
    await device.sync();
    const { conflicts } = await device.sync({
      items: [inVault(vault, { uuid, duplicate_of: uuidNumber(1), content: 'copy' })],
    });
    t.deepEqual(conflicts, []);
  }
  await server.advance(60_000);
  for (const { device, uuid, revisions } of copies) {
    const { body } = await device.call('GET', `/v2/items/${uuid}/revisions`);
    t.is(body.revisions.length, revisions);
  }
});

test('the history of an item is gone once it is deleted, wherever it was', async (t) => {
  for (const where of ['in the vault', 'at home'] as const) {
    const { alice, bob, vault, save } = await started(t);
    const [first] = await historyOf(t, alice);
    if (where === 'at home') await save(alice, (more) => note(more), 'taken out');
    const gone = (more: ClientItem) => ({ ...more, content: undefined, deleted: true });
    if (where === 'at home') await save(alice, (more) => note(gone(more)), undefined);
    else await save(bob, (more) => inVault(vault, gone(more)), undefined);
    for (const device of [alice, bob]) {
      t.deepEqual(await historyOf(t, device), [], where);
      t.is((await read(device, first ?? t.fail())).status, 404, where);
    }
  }
});

for (const { where, passes } of [
  { where: 'in the vault that it went to', passes: [] },
  { where: 'in its second vault', passes: ['another vault'] },
  { where: 'at home, where it is back', passes: ['home'] },
  { where: 'in the vault that it came back to', passes: ['home', 'the vault'] },
] as const) {
  test(`an item that is deleted ${where}, and is saved again, has no history from before`, async (t) => {
    const { server, alice, bob, vault, save } = await started(t);
    const other = await makeVault(alice);
    await join(alice, other, bob);
    const places = {
      home: (more: ClientItem) => note(more),
      'the vault': (more: ClientItem) => inVault(vault, more),
      'another vault': (more: ClientItem) => inVault(other, more),
    };
    let last: keyof typeof places = 'the vault';
    for (const place of passes) {
      await save(alice, places[place], `in ${place}`);
      last = place;
    }
    t.is((await historyOf(t, alice)).length, 3 + passes.length);
    const there = places[last];
    await save(alice, (more) => there({ ...more, deleted: true }), undefined);
    t.is(server.host.database.sizes.get('revision'), 0, 'nothing of it is stored');
    await save(alice, there, 'again');
    t.is((await historyOf(t, alice)).length, 1);
    await save(alice, places.home, 'home again');
    const history = await historyOf(t, alice);
    const contents = await Promise.all(history.map((each) => read(alice, each)));
    t.deepEqual(
      contents.map(({ body }) => body.revision.content),
      ['home again', 'again'],
    );
  });
}

test('the history of an item goes with it where it once was, also after its owner has deleted their account', async (t) => {
  const { server, alice, bob, vault, save } = await started(t);
  const other = await makeVault(alice);
  await join(alice, other, bob);
  const uuid = uuidNumber(2);
  const places = [
    { place: vault, content: 'first' },
    { place: vault, content: 'second' },
    { place: other, content: 'third' },
  ];
  let version = 0;
  for (const { place, content } of places) {
    const item = inVault(place, { uuid, content, updated_at_timestamp: version });
    const { saved_items: saved } = await bob.save(item);
    version = saved[0]?.updated_at_timestamp ?? t.fail();
    await server.advance(600_000);
  }
  const { userUuid, password } = bob.account;
  const headers = { 'x-server-password': password };
  t.is((await bob.call('DELETE', `/v1/users/${userUuid}`, { headers })).status, 200);
  await server.advance(3_600_000);
  await save(alice, (more) => inVault(vault, { ...more, deleted: true }), undefined);
  t.is(server.host.database.sizes.get('revision'), 2, 'what Bob has left in the first vault');
  await alice.save(inVault(other, { uuid, deleted: true, updated_at_timestamp: version }));
  await server.advance(10_000);
  t.is(server.host.database.sizes.get('revision'), 0);
});

test('the owner passes on to vaults what a host of an earlier release tells the owner alone', async (t) => {
  const { server, alice, save } = await started(t, { moreKinds: [fakeVault] });
  const other = await makeVault(alice);
  await save(alice, (more) => inVault(other, more), 'moved');
  await save(alice, (more) => inVault(other, more), 'edited');
  t.is(server.host.database.sizes.get('revision'), 4);
  const deletedMicros = server.host.clock.nowMs() * 1_000;
  const item = { itemUuid: uuidNumber(1), revisions: 5, isDuplicate: false, deletedMicros };
  await tellUser(server, alice.account.userUuid, 'deletedElsewhere', { items: [item] }, other);
  await server.advance(10_000);
  t.is(server.host.database.sizes.get('revision'), 1, 'only what is in the vault that deleted the item');
});
