/** Other events between the commits of an item's move: its host has died, and its source has yet to finalize. */
import test, { type ExecutionContext } from 'ava';
import { item } from '../../actors/collection/item.ts';
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import { defaultItemSettings, type ItemSettings } from '../../actors/collection/settings.ts';
import type { ModernSyncReply } from '../../actors/collection/sync-contract.ts';
import type { AnyRow } from '../../runtime/table.ts';
import { atEveryCommit, Death } from '../kit/death.ts';
import { accepted, type Device, deleteAccount } from '../kit/device.ts';
import { inVault, note, uuidNumber } from '../kit/items.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { join, makeVault } from '../kit/vaults.ts';

interface Scene {
  readonly server: TestServer;
  readonly death: Death;
  readonly alice: Device;
  readonly bob: Device;
  /** Alice's, and Bob is in it. */
  readonly vault: string;
  /** Alice's. */
  readonly other: string;
}

async function startScene(t: ExecutionContext, items: Partial<ItemSettings> = {}): Promise<Scene> {
  const death = new Death();
  const server = await startServer(t, { items, host: { schedule: death.schedule } });
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  const other = await makeVault(alice);
  await join(alice, vault, bob);
  await server.advance(5_000);
  return { server, death, alice, bob, vault, other };
}

/** The rows of the item that are no forwarding tombstones. */
async function homes({ server }: Scene): Promise<readonly AnyRow[]> {
  const of = (unique: readonly string[], value: AnyRow) =>
    ({ read: 'lookup', table: item, unique, values: [value], limit: 100 }) as const;
  const [moved, first] = await server.host.store.read([
    of(['uuid'], { uuid: uuidNumber(1) }),
    of(['uuid', 'born'], { uuid: uuidNumber(1), born: true }),
  ]);
  const rows = [...(first?.rows ?? []), ...(moved?.rows ?? [])].filter((row) => row['moved_to'] === null);
  return [...new Map(rows.map((row) => [String(row['collection']), row])).values()];
}

/** Sends the item until it is saved or in conflict, like clients. Resolves to the version. */
async function saved({ server }: Scene, device: Device, sent: ClientItem): Promise<number> {
  for (let tries = 0; tries < 10; tries += 1) {
    const answer = await server.answered(
      device.send({ items: [sent], sync_token: device.syncToken }),
      60_000,
    );
    if (answer.status === 503) {
      await server.advance(5_000);
      continue;
    }
    const { saved_items, conflicts }: ModernSyncReply = accepted(answer);
    if (saved_items.length === 1) return saved_items[0]?.updated_at_timestamp ?? 0;
    throw new Error(conflicts[0]?.type);
  }
  throw new Error('never saved');
}

/**
 * The commits of a move, counted from its request. A request that names no vault first looks in the owner's
 * collection.
 */
const intoVault = { apply: 2, finalize: 3 };
const outOfVault = { apply: 3, finalize: 4 };

/**
 * Sends an item that moves. The host dies before this commit of the move, and another continues. Nobody waits for the
 * answer.
 */
async function stopsBefore(scene: Scene, commit: number, sent: ClientItem): Promise<void> {
  const { server, death, alice } = scene;
  death.plan(commit, false);
  alice.send({ items: [sent] }).catch(() => {});
  await server.until(() => death.isDead, 5_000);
  death.over();
  await server.restart();
}

/** It has come home, and its former vault does not know yet. */
async function returnedItems(t: ExecutionContext, scene: Scene): Promise<number> {
  const { alice, vault } = scene;
  const first = await saved(scene, alice, inVault(vault));
  // The first save has nothing left to commit.
  await scene.server.advance(5_000);
  await stopsBefore(scene, outOfVault.finalize, note({ content: 'home', updated_at_timestamp: first }));
  const [source, home] = await homes(scene);
  t.is(source?.['collection'], vault);
  t.is(home?.['hop'], 1);
  return Number(home?.['updated_at_timestamp']);
}

async function isInOneCollection(t: ExecutionContext, scene: Scene, collection: string) {
  await scene.server.advance(90_000);
  t.deepEqual(
    (await homes(scene)).map((row) => row['collection']),
    [collection],
  );
}

test('an item that a vault refuses before its last move is finalized has one home', async (t) => {
  const scene = await startScene(t);
  const { alice } = scene;
  const version = await returnedItems(t, scene);
  const elsewhere = inVault(crypto.randomUUID(), { updated_at_timestamp: version });
  await t.throwsAsync(saved(scene, alice, elsewhere), { message: 'shared_vault_not_member_error' });
  await isInOneCollection(t, scene, alice.account.userUuid);
});

test('an item that goes on and comes back before its first move is finalized has one home', async (t) => {
  const scene = await startScene(t);
  const { alice, other } = scene;
  const version = await returnedItems(t, scene);
  const there = await saved(scene, alice, inVault(other, { updated_at_timestamp: version }));
  await saved(scene, alice, note({ content: 'home again', updated_at_timestamp: there }));
  await isInOneCollection(t, scene, alice.account.userUuid);
});

test('an item that comes back before its first move is finalized keeps its uuid taken', async (t) => {
  const scene = await startScene(t);
  const { server, alice, vault } = scene;
  const version = await saved(scene, alice, note());
  await server.advance(5_000);
  const moving = inVault(vault, { content: 'moved', updated_at_timestamp: version });
  await stopsBefore(scene, intoVault.finalize, moving);
  const [home, there] = await homes(scene);
  t.is(home?.['born'], true);
  const moved = Number(there?.['updated_at_timestamp']);
  await saved(scene, alice, note({ content: 'home again', updated_at_timestamp: moved }));
  await isInOneCollection(t, scene, alice.account.userUuid);
  const [back] = await homes(scene);
  t.is(back?.['born'], true);
  t.is(back?.['created_position'], home?.['created_position']);
});

test('an item that is saved before its next move is repeated stays with its owner', async (t) => {
  const scene = await startScene(t);
  const { alice, other } = scene;
  const version = await returnedItems(t, scene);
  await stopsBefore(scene, intoVault.apply, inVault(other, { updated_at_timestamp: version }));
  await saved(scene, alice, note({ content: 'saved', updated_at_timestamp: version }));
  await isInOneCollection(t, scene, alice.account.userUuid);
});

test('an item that is saved after its next move has been repeated is in conflict', async (t) => {
  const scene = await startScene(t);
  const { server, alice, other } = scene;
  const version = await returnedItems(t, scene);
  await stopsBefore(scene, intoVault.apply, inVault(other, { updated_at_timestamp: version }));
  // The caller of the move still waits, so the move is repeated on the new host.
  await server.advance(5_000);
  const save = saved(scene, alice, note({ content: 'saved', updated_at_timestamp: version }));
  await t.throwsAsync(save, { message: 'sync_conflict' });
  await isInOneCollection(t, scene, other);
});

/** For each direction, a device that receives the new row with one page, and then continues. */
const pagings = {
  'out of a vault': {
    async begin(t: ExecutionContext, scene: Scene) {
      await returnedItems(t, scene);
    },
    pages: (device: Device) => device.syncAll({ limit: 1 }),
  },
  'into a vault': {
    async begin(_t: ExecutionContext, scene: Scene) {
      const version = await saved(scene, scene.alice, note());
      await scene.server.advance(5_000);
      const moving = inVault(scene.vault, { content: 'moved', updated_at_timestamp: version });
      await stopsBefore(scene, intoVault.finalize, moving);
    },
    pages: async (device: Device, { vault }: Scene) => [
      await device.sync({ shared_vault_uuids: [vault] }),
      ...(await device.syncAll()),
    ],
  },
  'from vault to vault': {
    async begin(_t: ExecutionContext, scene: Scene) {
      const version = await saved(scene, scene.alice, inVault(scene.other));
      await scene.server.advance(5_000);
      const moving = inVault(scene.vault, { content: 'moved', updated_at_timestamp: version });
      await stopsBefore(scene, outOfVault.finalize, moving);
    },
    pages: (device: Device) => device.syncAll({ limit: 1 }),
  },
} as const;

for (const [direction, { begin, pages }] of Object.entries(pagings)) {
  test(`a reader of an item that moves ${direction} never gets an older state after the newer one`, async (t) => {
    const scene = await startScene(t);
    await begin(t, scene);
    const rows = await homes(scene);
    t.is(rows.length, 2);
    const newest = Math.max(...rows.map((row) => Number(row['updated_at_timestamp'])));
    const device = await scene.alice.another();
    const received = (await pages(device, scene)).flatMap(({ retrieved_items }) => retrieved_items);
    const versions = received.filter(({ uuid }) => uuid === uuidNumber(1));
    t.is(versions.at(-1)?.updated_at_timestamp, newest);
    t.is((await homes(scene)).length, 2);
  });
}

test('an item is saved where it was applied, as what it is there, before its source has finalized', async (t) => {
  const scene = await startScene(t);
  const { server, alice, vault } = scene;
  const version = await saved(scene, alice, note());
  await server.advance(5_000);
  await stopsBefore(
    scene,
    intoVault.finalize,
    inVault(vault, { content: 'moved', updated_at_timestamp: version }),
  );
  const device = await alice.another();
  const [received] = (await device.sync()).retrieved_items;
  t.is(received?.content, 'moved');
  const { item: found } = (await device.getItem(uuidNumber(1))).body;
  t.like(found, { content: 'moved', shared_vault_uuid: vault });
  t.deepEqual(
    await device.checkIntegrity([
      { uuid: uuidNumber(1), updated_at_timestamp: received?.updated_at_timestamp ?? 0 },
    ]),
    [],
  );
  const edited = inVault(vault, {
    content: 'edited',
    updated_at_timestamp: received?.updated_at_timestamp,
  });
  const { saved_items: there } = await server.answered(device.sync({ items: [edited] }));
  t.is(there.length, 1);
  t.is((await homes(scene)).length, 2);
  await isInOneCollection(t, scene, vault);
});

/**
 * Requests all of it at once, while the host dies around this commit and another continues. Resolves to whether it
 * died.
 */
async function dying(
  { server, death }: Scene,
  commit: number,
  isApplied: boolean,
  calls: readonly Promise<unknown>[],
): Promise<boolean> {
  death.plan(commit, isApplied);
  let isOver = false;
  const answered = Promise.allSettled(calls).finally(() => {
    isOver = true;
  });
  await server.until(() => isOver || death.isDead, 60_000);
  if (!death.isDead) await server.advance(1_000);
  const { isDead } = death;
  death.over();
  if (isDead) await server.restart();
  await server.answered(answered, 90_000);
  return isDead;
}

const untilFinalizedMs = 90_000;

for (const direction of ['into', 'out of'] as const) {
  test(`nothing comes back of an account deleted while its item moves ${direction} a vault, whichever commit a host dies at`, async (t) => {
    t.timeout(120_000);
    const deaths = await atEveryCommit(async (commit, isApplied) => {
      const scene = await startScene(t);
      const { server, alice, bob, vault } = scene;
      const isIn = direction === 'into';
      const version = await saved(scene, bob, isIn ? note() : inVault(vault));
      await server.advance(5_000);
      const named = { content: 'moved', updated_at_timestamp: version };
      const isDead = await dying(scene, commit, isApplied, [
        bob.send({ items: [isIn ? inVault(vault, named) : note(named)] }),
        deleteAccount(bob),
      ]);
      for (let tries = 0; tries < 10; tries += 1) {
        const { status } = await server.answered(deleteAccount(bob), 90_000);
        if (status !== 503) break;
        await server.advance(5_000);
      }
      await server.advance(untilFinalizedMs);
      const left = await homes(scene);
      t.true(left.length <= 1);
      for (const row of left) t.is(row['collection'], vault);
      const received = (await alice.sync({ sync_token: null })).retrieved_items;
      t.is(received.length, left.length);
      return isDead;
    });
    t.log(`${deaths} deaths`);
    t.true(deaths >= 8);
  });
}

test('an item that two sessions move to two places at once is in one of them, whichever commit a host dies at', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const scene = await startScene(t);
    const { server, alice, vault, other } = scene;
    const version = await saved(scene, alice, note());
    const second = await alice.another();
    await second.sync();
    await server.advance(5_000);
    const moves = [vault, other].map((to) => inVault(to, { content: to, updated_at_timestamp: version }));
    const devices = [alice, second];
    const isDead = await dying(
      scene,
      commit,
      isApplied,
      moves.map((sent, index) => (devices[index] as Device).send({ items: [sent] })),
    );
    await server.advance(untilFinalizedMs);
    const outcomes = await Promise.all(
      moves.map((sent, index) =>
        saved(scene, devices[index] as Device, sent).then(
          () => 'saved',
          (error: Error) => error.message,
        ),
      ),
    );
    t.deepEqual(outcomes.toSorted(), ['saved', 'sync_conflict']);
    await isInOneCollection(t, scene, outcomes[0] === 'saved' ? vault : other);
    const [received] = (await alice.sync({ sync_token: null })).retrieved_items;
    t.is(received?.content, received?.shared_vault_uuid);
    return isDead;
  });
  t.log(`${deaths} deaths`);
  t.true(deaths >= 8);
});

/** What each of the item's revisions says, the newest first. */
async function contents(device: Device): Promise<readonly string[]> {
  const path = `/v2/items/${uuidNumber(1)}/revisions`;
  const found: string[] = [];
  for (const { uuid } of accepted(await device.call('GET', path)).revisions) {
    found.push(accepted(await device.call('GET', `${path}/${uuid}`)).revision.content);
  }
  return found;
}

const everySave = { revisions: { ...defaultItemSettings.revisions, pauseMs: 0 } };

test('an item that moves keeps every revision, whichever commit a host dies around', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const scene = await startScene(t, everySave);
    const { server, alice, vault } = scene;
    const version = await saved(scene, alice, note({ content: 'before' }));
    await server.advance(5_000);
    const moving = inVault(vault, { content: 'moved', updated_at_timestamp: version });
    const isDead = await dying(scene, commit, isApplied, [alice.send({ items: [moving] })]);
    const moved = await saved(scene, alice, moving);
    await server.advance(untilFinalizedMs);
    t.deepEqual(await contents(alice), ['moved', 'before']);
    await saved(scene, alice, note({ content: 'home again', updated_at_timestamp: moved }));
    t.deepEqual(await contents(alice), ['home again', 'moved', 'before']);
    return isDead;
  });
  t.log(`${deaths} deaths`);
  t.true(deaths >= 4);
});

/** An item with a history has come into the vault, and its transfer is not finalized. `there` is its version in the vault. */
async function movedAndNotFinalized(t: ExecutionContext) {
  const scene = await startScene(t, everySave);
  const { server, alice, vault } = scene;
  const version = await saved(scene, alice, note({ content: 'before' }));
  await server.advance(5_000);
  const moving = inVault(vault, { content: 'moved', updated_at_timestamp: version });
  await stopsBefore(scene, intoVault.finalize, moving);
  const [, item] = await homes(scene);
  return { scene, there: Number(item?.['updated_at_timestamp']) };
}

test('an item that comes back before its first move is finalized brings no revision down', async (t) => {
  const { scene, there } = await movedAndNotFinalized(t);
  const { server, alice } = scene;
  await server.advance(1_000);
  await saved(scene, alice, note({ content: 'home again', updated_at_timestamp: there }));
  await server.advance(untilFinalizedMs);
  t.deepEqual(await contents(alice), ['home again', 'moved', 'before']);
});

test('an item that is deleted before its move is finalized leaves no history at its source', async (t) => {
  const { scene, there } = await movedAndNotFinalized(t);
  const { server, alice, vault } = scene;
  const gone = { deleted: true, updated_at_timestamp: there };
  const deleted = await saved(scene, alice, inVault(vault, gone));
  await saved(scene, alice, inVault(vault, { content: 'again', updated_at_timestamp: deleted }));
  await server.advance(untilFinalizedMs);
  t.deepEqual(await contents(alice), ['again']);
});
