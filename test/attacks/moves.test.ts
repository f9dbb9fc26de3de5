/** Items that are sent several times at once, each time to another place. */
import test from 'ava';
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import { accepted } from '../kit/device.ts';
import { note } from '../kit/items.ts';
import { startServer } from '../kit/server.ts';
import { makeVault } from '../kit/vaults.ts';

type Target = 'home' | 'vault' | 'other';

const orders: readonly (readonly Target[])[] = [
  ['vault', 'home'],
  ['home', 'vault'],
  ['vault', 'vault'],
  ['vault', 'other'],
  ['vault', 'home', 'other'],
];

for (const order of orders) {
  test(`when one sync asks to ${order.join(', then ')} one item, only what is saved is answered as saved`, async (t) => {
    const server = await startServer(t);
    const alice = await server.device();
    const vaults = { home: null, vault: await makeVault(alice), other: await makeVault(alice) };
    const { saved_items: first } = await alice.save();
    const { uuid, updated_at_timestamp: version } = first[0] ?? t.fail();
    const sent = (target: Target, index: number): ClientItem =>
      note({
        uuid,
        updated_at_timestamp: version,
        content: `004:${index}`,
        shared_vault_uuid: vaults[target],
        key_system_identifier: target === 'home' ? null : 'system',
      });
    const { saved_items: saved, conflicts } = accepted(
      await server.answered(alice.send({ items: order.map(sent) }), 60_000),
    );
    t.is(saved.length, 1);
    // The existing item is returned once, however often the call names it.
    t.is(conflicts.length, 1);
    await server.advance(90_000);
    const { retrieved_items: remaining } = await alice.sync({ sync_token: null });
    t.deepEqual(
      remaining.map((each) => [each.content, each.shared_vault_uuid, each.updated_at_timestamp]),
      [['004:0', vaults[order[0] ?? 'home'], saved[0].updated_at_timestamp]],
    );
  });
}
