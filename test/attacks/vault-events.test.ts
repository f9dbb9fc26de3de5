/** Attackers who want to learn when the members of a vault work. */
import test from 'ava';
import { Vault } from '../../actors/vault/contract.ts';
import { note } from '../kit/items.ts';
import { startSharedVault, vaults } from '../kit/vaults.ts';

test('a gateway that names strangers, or somebody who was a member, is subscribed to nothing', async (t) => {
  const { server, alice, bob, vault } = await startSharedVault(t);
  const carol = await server.device('carol@example.org');
  const events: unknown[] = [];
  const heard = { hinted: () => {}, reconnected: () => {} };
  const stop = server.transport.listen('g', {
    ...heard,
    event: ({ address, event }) => {
      if (address.kind === 'vault') events.push(event);
    },
  });
  t.teardown(stop);
  const subscribe = (...users: string[]) =>
    server.host.actors.get(Vault, vault).ask.subscribe({ gateway: 'g', users });
  const [a, b, c] = [alice, bob, carol].map(({ account }) => account.userUuid) as [string, string, string];
  const inVault = note({ shared_vault_uuid: vault, key_system_identifier: 'system' });

  t.deepEqual(await subscribe(c, crypto.randomUUID(), vault), { memberships: {} });
  t.deepEqual(await subscribe(), { memberships: {} });
  await alice.save(inVault);
  t.deepEqual(events, []);

  t.is((await alice.call('DELETE', `${vaults}/${vault}/users/${b}`)).status, 200);
  t.deepEqual(await subscribe(b, c), { memberships: {} });
  await alice.save({ ...inVault, uuid: crypto.randomUUID() });
  t.deepEqual(events, []);

  const { memberships, host } = await subscribe(a, b, c);
  t.deepEqual(Object.keys(memberships), [a]);
  t.truthy(host);
  await alice.save({ ...inVault, uuid: crypto.randomUUID() });
  t.is(events.length, 1);
});
