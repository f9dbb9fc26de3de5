/** An item on its way from one collection to another, and a host that dies around any commit of that. */
import test, { type ExecutionContext } from 'ava';
import { item } from '../../actors/collection/item.ts';
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import type { AnyRow } from '../../runtime/table.ts';
import { Death } from '../kit/death.ts';
import type { Device } from '../kit/device.ts';
import { inVault, note, uuidNumber } from '../kit/items.ts';
import type { TestServer } from '../kit/server.ts';
import { startSharedVault } from '../kit/vaults.ts';

/** Every row of the item, in any collection. */
async function rowsOf(server: TestServer, death?: Death): Promise<readonly AnyRow[]> {
  const { store } = server.host;
  const wasDead = death?.isDead ?? false;
  if (death !== undefined) death.isDead = false;
  const of = (unique: readonly string[], value: AnyRow) =>
    ({ read: 'lookup', table: item, unique, values: [value] }) as const;
  const [moved, first] = await store.read([
    { ...of(['uuid'], { uuid: uuidNumber(1) }), limit: 100 },
    of(['uuid', 'born'], { uuid: uuidNumber(1), born: true }),
  ]);
  if (death !== undefined) death.isDead = wasDead;
  const rows = [...(first?.rows ?? []), ...(moved?.rows ?? [])];
  return [...new Map(rows.map((row) => [String(row['collection']), row])).values()];
}
const homesOf = async (server: TestServer) =>
  (await rowsOf(server)).filter((row) => row['moved_to'] === null);

/** The invariant at every moment between two commits, whichever host died. */
async function isWhole(t: ExecutionContext, server: TestServer, death: Death) {
  const rows = await rowsOf(server, death);
  t.is(rows.filter((row) => row['born'] === true).length, 1);
  const homes = rows.filter((row) => row['moved_to'] === null);
  t.true(homes.length >= 1 && homes.length <= 2);
  const hops = homes.map((row) => Number(row['hop'] ?? 0));
  t.is(new Set(hops).size, homes.length);
}

const directions = ['into the vault', 'out of the vault'] as const;

for (const direction of directions) {
  for (const commit of [1, 2, 3]) {
    for (const isApplied of [false, true]) {
      const when = `${isApplied ? 'after' : 'before'} commit ${commit}`;
      test(`an item on its way ${direction} has one home when its host dies ${when}, and the client is answered in the end`, async (t) => {
        const death = new Death();
        const { server, alice, bob, vault } = await startSharedVault(t, {
          server: { host: { schedule: death.schedule } },
        });
        await server.advance(5_000);
        const begun = direction === 'into the vault' ? note() : inVault(vault);
        const [before] = (await alice.sync({ items: [begun] })).saved_items;
        await alice.sync();
        const named = { content: 'moved', updated_at_timestamp: before?.updated_at_timestamp };
        const moving = direction === 'into the vault' ? inVault(vault, named) : note(named);

        death.plan(commit, isApplied);
        const pending = alice.sync({ items: [moving] });
        pending.catch(() => {});
        await server.until(() => death.isDead, 5_000);
        await isWhole(t, server, death);
        death.over();
        await server.restart();
        await server.answered(
          pending.catch(() => undefined),
          60_000,
        );
        await server.advance(60_000);

        t.is((await homesOf(server)).length, 1);
        const last = await again(server, alice, moving);
        t.is(last, 'moved');
        t.is((await homesOf(server)).length, 1);
        const owner = direction === 'into the vault' ? vault : alice.account.userUuid;
        t.is((await homesOf(server))[0]?.['collection'], owner);
        const seen = (await bob.sync({ sync_token: null })).retrieved_items.length;
        t.is(seen, direction === 'into the vault' ? 1 : 0);
      });
    }
  }
}

/** Sent again, like clients, until it is saved; a conflict shows that it was. */
async function again(server: TestServer, device: Device, moving: ClientItem): Promise<unknown> {
  const { saved_items: saved, conflicts } = await server.answered(device.sync({ items: [moving] }), 60_000);
  if (saved.length === 1) return 'moved';
  return conflicts[0]?.server_item?.content;
}
