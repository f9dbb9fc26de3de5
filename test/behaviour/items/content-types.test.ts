/** The content types of items that clients know. */
import { setImmediate as othersHadTheirTurn } from 'node:timers/promises';
import test from 'ava';
import { note, uuidNumber } from '../../kit/items.ts';
import type { Schedule } from '../../kit/model-store/model-store.ts';
import { startServer } from '../../kit/server.ts';

const accepted = [
  'Note',
  'Tag',
  'Folder',
  'Extension',
  'SF|Item',
  'SN|KeySystemItemsKey',
  'SN|KeySystemRootKey',
  'SN|TrustedContact',
  'SN|VaultListing',
  'SN|RootKey|NoSync',
  'SN|ItemsKey',
  'SN|EncryptedStorage',
  'SN|SmartTag',
  'SN|Component',
  'SN|Editor',
  'SN|UserPreferences',
  'SN|HistorySession',
  'SN|Theme',
  'SN|File',
  'SN|FileSafe|Credentials',
  'SN|FileSafe|FileMetadata',
  'SN|FileSafe|Integration',
  'SN|ExtensionRepo',
  '*',
  null,
];
/** The types that a client needs before it can show anything else. */
const inFront = ['SN|ItemsKey', 'SN|UserPreferences', 'SN|Theme'];

test('items of every type that clients know are saved, and come back as such', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const items = accepted.map((content_type, n) => note({ uuid: uuidNumber(n + 1), content_type }));
  const { saved_items: saved, conflicts } = await phone.sync({ items });
  t.deepEqual(conflicts, []);
  t.deepEqual(
    saved.map(({ content_type: type }) => type),
    accepted,
  );
  const { retrieved_items: got } = await (await server.device()).sync();
  const types = new Map(got.map(({ uuid, content_type: type }) => [uuid, type]));
  t.deepEqual(
    items.map((_, n) => types.get(uuidNumber(n + 1))),
    accepted,
  );
  for (const [n, type] of accepted.entries()) {
    t.is((await phone.getItem(uuidNumber(n + 1))).body.item.content_type, type);
  }
});

for (const [what, fields] of Object.entries({
  'that no client knows': { content_type: 'Foo' },
  'in other letters': { content_type: 'note' },
  'with something after it': { content_type: 'Note ' },
  'that is empty': { content_type: '' },
  'that is a number': { content_type: 1 },
  'that is a list': { content_type: ['Note'] },
  'that is missing': { content_type: undefined },
  'that is a property of every object': { content_type: 'constructor' },
})) {
  test(`an item of a type ${what} is refused alone, and given back`, async (t) => {
    const phone = await (await startServer(t)).device();
    const wrong = note({ uuid: uuidNumber(2), ...fields });
    const { saved_items: saved, conflicts } = await phone.sync({ items: [note(), wrong] });
    t.deepEqual(
      saved.map(({ uuid }) => uuid),
      [uuidNumber(1)],
    );
    t.is(conflicts.length, 1);
    t.like(conflicts[0], {
      type: 'content_type_error',
      unsaved_item: { uuid: uuidNumber(2), content: wrong.content, enc_item_key: wrong.enc_item_key },
    });
    t.is((await phone.getItem(uuidNumber(2))).status, 404);
  });
}

test('items that a client cannot do without stand at the front of the first page, and no others do', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const ordinary = [1, 2, 3].map((n) => note({ uuid: uuidNumber(n) }));
  const others = accepted.map((content_type, n) => note({ uuid: uuidNumber(n + 100), content_type }));
  await phone.sync({ items: [...ordinary, ...others] });
  const { retrieved_items: first } = await (await server.device()).sync({ limit: 3 });
  t.deepEqual(
    first.map(({ content_type: type }) => type).toSorted(),
    [...inFront, 'Note', 'Note', 'Note'].toSorted(),
  );
  t.deepEqual(
    first.slice(-3).map(({ uuid }) => uuid),
    ordinary.map(({ uuid }) => uuid),
  );
});

test('a device that stands somewhere is given nothing in front', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: [note({ content_type: 'SN|ItemsKey' })] });
  await laptop.sync();
  await phone.sync({ items: [note({ uuid: uuidNumber(2) })] });
  const { retrieved_items: got } = await laptop.sync();
  t.deepEqual(
    got.map(({ uuid }) => uuid),
    [uuidNumber(2)],
  );
});

test('an item for a vault takes a client that knows vaults', async (t) => {
  const phone = await (await startServer(t)).device();
  const vaultItem = note({ key_system_identifier: 'key system' });
  const save = async (version: string | undefined) => {
    const headers: Record<string, string> = version === undefined ? {} : { 'x-snjs-version': version };
    const body = { api: '20240226', items: [vaultItem] };
    const answer = await phone.call('POST', '/v1/items', { body, headers });
    return answer.body.conflicts.map(({ type }: { type: string }) => type);
  };
  for (const old of [undefined, '', '2.199.9', '1.300.0', 'x']) {
    t.deepEqual(await save(old), ['shared_vault_snjs_version_error'], old);
  }
  t.deepEqual(await save('2.200.0'), []);
});

test('integrity is answered for an account of more than 10,000 items', async (t) => {
  // Without it the timer of an endless check would never fire.
  const schedule: Schedule = async (_method, apply) => {
    await othersHadTheirTurn();
    return apply();
  };
  const server = await startServer(t, { host: { schedule } });
  const phone = await server.device();
  const all = Array.from({ length: 10_050 }, (_, n) => uuidNumber(n + 1));
  const versions = new Map<string, number>();
  for (let from = 0; from < all.length; from += 2_500) {
    const items = all.slice(from, from + 2_500).map((uuid) => note({ uuid, content: 'x' }));
    const { saved_items: saved } = await phone.sync({ items, limit: 1 });
    for (const { uuid, updated_at_timestamp: version } of saved) versions.set(uuid, version);
  }
  t.timeout(60_000, 'the check finds no end');
  const missing: { uuid: string; updated_at_timestamp: number }[] = [];
  for (let more = await phone.checkIntegrity([]); more.length > 0; ) {
    missing.push(...more);
    more = await phone.checkIntegrity(missing);
  }
  t.deepEqual(missing.map(({ uuid }) => uuid).sort(), all);
  for (const { uuid, updated_at_timestamp: version } of missing) t.true(version === versions.get(uuid));
  const known = all.map((uuid) => ({ uuid, updated_at_timestamp: versions.get(uuid) ?? 0 }));
  t.deepEqual(await phone.checkIntegrity(known), []);
  t.deepEqual(await phone.checkIntegrity(known.slice(0, -1)), known.slice(-1));
});
