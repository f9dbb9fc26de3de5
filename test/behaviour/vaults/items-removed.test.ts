/** What members learn of items that their owners take out of a vault and put back, over HTTP. */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { atEveryCommit, Death } from '../../kit/death.ts';
import { type Device, deleteAccount } from '../../kit/device.ts';
import { inVault, note, uuidNumber } from '../../kit/items.ts';
import { makeVault, startSharedVault, vaults } from '../../kit/vaults.ts';

/** Long after the rows of a deleted account have gone. */
const purgedMs = 1_000_000;

/** What a new device learns of removed items. */
async function notificationTexts(device: Device): Promise<readonly string[]> {
  const { notifications } = await device.sync({ sync_token: null });
  return notifications
    .filter(({ type }) => type === 'shared_vault_item_removed')
    .map(({ payload }) => {
      const { primaryIdentifier, secondaryIdentifier } = JSON.parse(payload);
      return `${secondaryIdentifier} of ${primaryIdentifier}`;
    });
}

async function started(t: ExecutionContext, death = new Death()) {
  const { server, alice, bob, vault } = await startSharedVault(t, {
    server: { host: { schedule: death.schedule } },
  });
  await server.advance(5_000);
  const save = async (...items: readonly ClientItem[]) => {
    const { saved_items: saved, conflicts } = await alice.sync({ items });
    t.deepEqual(conflicts, []);
    await server.advance(1_000);
    return saved;
  };
  return { server, alice, bob, vault, save };
}

const versionOf = (items: readonly { updated_at_timestamp: number }[], n = 0) => ({
  updated_at_timestamp: items[n]?.updated_at_timestamp ?? 0,
});

test('an item that is taken out of a vault is reported as removed to all members, until it is back', async (t) => {
  const { alice, bob, vault, save } = await started(t);
  const first = await save(inVault(vault), inVault(vault, { uuid: uuidNumber(2) }));
  await bob.sync();
  const out = await save(note(versionOf(first)), note({ uuid: uuidNumber(2), ...versionOf(first, 1) }));
  const both = [1, 2].map((n) => `${uuidNumber(n)} of ${vault}`);
  t.is((await bob.sync()).notifications.length, 2);
  t.deepEqual((await notificationTexts(alice)).toSorted(), both);
  t.deepEqual((await notificationTexts(bob)).toSorted(), both);
  await alice.sync();

  await save(inVault(vault, versionOf(out)));
  t.deepEqual(await notificationTexts(bob), [both[1]]);
  // A user who puts one back keeps none at all: the reports about the others are done.
  t.deepEqual(await notificationTexts(alice), []);
});

test('nothing is said of an item that goes to another vault, is deleted, or stays', async (t) => {
  const { alice, bob, vault, save } = await started(t);
  const other = await makeVault(alice);
  const first = await save(inVault(vault), inVault(vault, { uuid: uuidNumber(2) }));
  await save(inVault(other, versionOf(first)));
  const gone = inVault(vault, { uuid: uuidNumber(2), deleted: true, ...versionOf(first, 1) });
  await save(gone);
  // A deleted item cannot be taken out, so this one stays.
  await alice.sync();
  const refused = await alice.sync({ items: [note({ uuid: uuidNumber(2), deleted: true })] });
  t.is(refused.conflicts.length, 1);
  t.deepEqual(await notificationTexts(alice), []);
  t.deepEqual(await notificationTexts(bob), []);
});

test('an item that was never in the vault does not make anybody forget another', async (t) => {
  const { alice, bob, vault, save } = await started(t);
  const first = await save(inVault(vault));
  await save(note(versionOf(first)));
  const own = await save(note({ uuid: uuidNumber(2) }));
  await alice.sync();
  await save(inVault(vault, { uuid: uuidNumber(2), ...versionOf(own) }));
  t.is((await notificationTexts(bob)).length, 1);
});

test('members are told of a removal once, whichever commit of it their host dies around', async (t) => {
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const death = new Death();
    const { server, alice, bob, vault, save } = await started(t, death);
    const [item] = await save(inVault(vault));
    await alice.sync();
    const moving = note({ updated_at_timestamp: item?.updated_at_timestamp ?? 0 });
    death.plan(commit, isApplied);
    const pending = alice.sync({ items: [moving] });
    pending.catch(() => {});
    await server.advance(10_000);
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart();
    await server.answered(
      pending.catch(() => undefined),
      60_000,
    );
    await server.advance(60_000);
    await server.answered(alice.sync({ items: [moving] }), 60_000);
    await server.advance(60_000);
    const said = `${isApplied ? 'after' : 'before'} commit ${commit}`;
    for (const device of [alice, bob]) {
      t.deepEqual(await notificationTexts(device), [`${uuidNumber(1)} of ${vault}`], said);
    }
    return isDead;
  });
  t.true(deaths >= 6);
});

for (const [what, overrides] of [
  ['saved', { content: 'late' }],
  ['deleted', { deleted: true, content: undefined, enc_item_key: undefined }],
] as const) {
  test(`an item that its deleted owner took out of a vault is nobody's when it is ${what} there`, async (t) => {
    const { server, alice, bob, vault, save } = await started(t);
    const path = `${vaults}/${vault}/users/${bob.account.userUuid}/designate-survivor`;
    t.is((await alice.call('POST', path)).status, 200);
    const first = await save(inVault(vault));
    await bob.sync();
    await save(note(versionOf(first)));
    t.is((await deleteAccount(alice)).status, 200);
    await server.advance(purgedMs);
    const late = inVault(vault, { ...versionOf(first), ...overrides });
    const { saved_items: saved, conflicts } = await server.answered(bob.save(late), 60_000);
    t.deepEqual(saved, []);
    t.deepEqual(
      conflicts.map(({ type, unsaved_item: unsaved }) => [type, unsaved?.uuid]),
      [['uuid_conflict', uuidNumber(1)]],
    );
  });
}
