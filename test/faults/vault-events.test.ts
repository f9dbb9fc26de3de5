/** A lost push of a vault is repaired, as those of users are. */
import test from 'ava';
import { isRefused } from '../../actors/reply.ts';
import { Items } from '../../actors/user/items/contract.ts';
import { Vaults } from '../../actors/user/vaults/contract.ts';
import { Vault } from '../../actors/vault/contract.ts';
import { shardOf } from '../../runtime/address.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { losing, openWorld } from '../kit/push-world.ts';

/** A vault of the user, at the other host. */
async function openVaultWorld() {
  const world = await openWorld();
  const { cluster, actors, phone, laptop, b } = world;
  const { shardCount } = cluster;
  let vault: string | undefined;
  while (vault === undefined) {
    const made = await cluster.until(
      actors.get(Vaults, phone.userUuid).ask.createVault({ credentials: phone }),
    );
    if (isRefused(made)) throw new Error(made.refused.message);
    const { uuid } = made.ok.sharedVault;
    if (b.transport.isRouted(shardOf({ kind: Vault.name, id: uuid }, shardCount))) vault = uuid;
  }
  await cluster.clock.advance(5_000);
  laptop.frames.length = 0;
  phone.frames.length = 0;
  let saves = 0;
  const inVault = () => {
    saves += 1;
    return note({ uuid: uuidNumber(saves), shared_vault_uuid: vault, key_system_identifier: 'system' });
  };
  return {
    ...world,
    save: (): Promise<unknown> =>
      actors
        .get(Items, phone.userUuid)
        .ask.sync({ api: '20240226', snjs_version: '2.204.7', credentials: phone, items: [inVault()] }),
  };
}

test('an event of a vault reaches a gateway of another process once', async (t) => {
  const world = await openVaultWorld();
  await world.cluster.until(world.save());
  await world.within(100, () => world.laptop.frames.length > 0);
  await world.cluster.clock.advance(5_000);
  t.deepEqual([world.laptop.frames.length, world.phone.frames.length], [1, 0]);
});

test("a vault's host that dies between commit and publish: devices learn of it within 15 seconds", async (t) => {
  const world = await openVaultWorld();
  losing(world.b, () => world.cluster.crash(world.b));
  world.save().catch(() => {});
  await world.within(1_000, () => world.b.transport.isCut);
  t.is(world.laptop.frames.length, 0);
  const tookMs = await world.within(15_000, () => world.laptop.frames.length > 0);
  t.log(`${tookMs} ms`);
});

test('the loss of the last event of a vault shows within seconds', async (t) => {
  const world = await openVaultWorld();
  const found = losing(world.b);
  await world.cluster.until(world.save());
  found();
  await world.within(12_000, () => world.laptop.frames.length > 0);
  await world.cluster.clock.advance(2_000);
  t.is(world.laptop.frames.length, 1, 'of all vaults together');
});

test('where the shard of a vault was handed over, its members are asked to sync, and learn of later changes', async (t) => {
  const world = await openVaultWorld();
  await world.cluster.drain(world.b);
  await world.within(5_000, () => world.laptop.frames.length > 0);
  await world.cluster.clock.advance(5_000);
  const [before, own] = [world.laptop.frames.length, world.phone.frames.length];
  await world.cluster.until(world.save());
  await world.within(100, () => world.laptop.frames.length > before);
  t.is(world.phone.frames.length, own);
});

test('a gateway that was cut off has the members sync once it is back', async (t) => {
  const world = await openVaultWorld();
  const found = losing(world.b);
  await world.cluster.until(world.save());
  found();
  world.transport.cut();
  world.transport.heal();
  await world.within(2_000, () => world.laptop.frames.length > 0);
  t.is(world.laptop.frames.length, 1);
});
