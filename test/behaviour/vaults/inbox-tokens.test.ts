/**
 * Whatever tokens and pages a client uses while others write to it: no row of its inbox is skipped, and few come
 * twice.
 */
import test from 'ava';
import { bob } from '../../kit/account.ts';
import { accepted, type Device } from '../../kit/device.ts';
import { fakeVault, tellUser } from '../../kit/fake-vault.ts';
import { turn } from '../../kit/gateway.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import type { Schedule } from '../../kit/model-store/model-store.ts';
import { SeededRandom } from '../../kit/random.ts';
import { startServer } from '../../kit/server.ts';

const steps = 40;

class Client {
  readonly got = new Set<string>();
  readonly items = new Set<string>();
  cursor: string | undefined;
  readonly device: Device;

  constructor(device: Device) {
    this.device = device;
  }

  /** One page: the next one if there is a cursor. */
  async turnPage(limit: number, more: object = {}): Promise<void> {
    const cursor = this.cursor === undefined ? {} : { cursor_token: this.cursor };
    const reply = await this.device.sync({ limit, ...cursor, ...more });
    this.cursor = reply.cursor_token;
    for (const { uuid } of reply.retrieved_items) this.items.add(uuid);
    for (const { uuid } of [...reply.messages, ...reply.notifications, ...reply.shared_vault_invites]) {
      this.got.add(uuid);
    }
  }

  async turnAll(): Promise<void> {
    do await this.turnPage(150);
    while (this.cursor !== undefined);
  }
}

const missing = (all: Client, of: Client) => [...all.got].filter((uuid) => !of.got.has(uuid));

for (let seed = 1; seed <= 5; seed += 1) {
  test(`no client misses what came into the inbox (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const below = (max: number) => Math.floor(random.fraction() * max);
    const server = await startServer(t, { moreKinds: [fakeVault] });
    const writer = await server.device();
    const friend = await server.device(bob.email);
    const clients = [new Client(await server.device()), new Client(await server.device())];
    const legacy = await server.device();
    const { userUuid } = writer.account;
    let count = 0;

    const notify = (): Promise<unknown> => {
      count += 1;
      const subject = {
        type: 'shared_vault_item_removed',
        vaultUuid: uuidNumber(99),
        itemUuid: uuidNumber(count),
      } as const;
      return tellUser(server, userUuid, 'notified', { subject, at: count });
    };
    const invite = (): Promise<unknown> => {
      count += 1;
      const uuids = {
        uuid: uuidNumber(0x1000 + count),
        shared_vault_uuid: uuidNumber(0x2000 + count),
        user_uuid: userUuid,
        sender_uuid: friend.account.userUuid,
      };
      const times = { created_at_timestamp: count, updated_at_timestamp: count };
      const invite = { ...uuids, encrypted_message: 'x', permission: 'read' as const, ...times };
      return tellUser(server, userUuid, 'invited', { invite, isNew: true });
    };
    const write = async (): Promise<unknown> => {
      const body = { recipient_uuid: userUuid, encrypted_message: `${below(1e9)}` };
      return friend.call('POST', '/v1/messages', { body });
    };
    const save = (): Promise<unknown> => {
      const items = Array.from({ length: 1 + below(4) }, () => note({ uuid: random.uuid() }));
      return writer.send({ items });
    };
    const old = async (): Promise<unknown> => {
      const reply = accepted(await legacy.send({ api: '20161215', sync_token: legacy.syncToken }));
      legacy.syncToken = reply.sync_token;
      return reply;
    };
    const turn = (client = clients[0] as Client): Promise<unknown> => {
      const kind = random.fraction();
      if (kind < 0.15) return client.turnPage(1, { items: [note({ uuid: random.uuid() })] });
      return client.turnPage(1 + below(3));
    };
    const actions = [notify, invite, write, save, old, turn, turn, turn] as (() => Promise<unknown>)[];

    for (let step = 0; step < steps; step += 1) {
      const atOnce = below(2) === 0 ? [turn(clients[1])] : [];
      await Promise.all([actions[below(actions.length)]?.(), ...atOnce]);
    }
    await server.advance(5_000);
    for (const client of clients) await client.turnAll();

    const all = new Client(await server.device());
    await all.turnAll();
    t.true(all.got.size > 5);
    for (const client of clients) {
      t.deepEqual(missing(all, client), [], 'of the inbox');
    }
    const updated = new Client(legacy);
    await updated.turnAll();
    t.deepEqual(missing(all, updated), [], 'of a client that was updated');
  });
}

test('a save that was planned before something came into the inbox is answered with it', async (t) => {
  const held: (() => void)[] = [];
  let isHeld = false;
  const schedule: Schedule = async (method, apply) => {
    await undefined;
    if (method === 'read' && isHeld) await new Promise<void>((resolve) => held.push(resolve));
    return apply();
  };
  const server = await startServer(t, { moreKinds: [fakeVault], host: { schedule } });
  const somethingIsHeld = async () => {
    while (held.length === 0) await turn();
  };
  const client = new Client(await server.device());
  await client.turnAll();
  const subject = {
    type: 'shared_vault_item_removed',
    vaultUuid: uuidNumber(99),
    itemUuid: uuidNumber(1),
  } as const;
  isHeld = true;
  const telling = tellUser(server, client.device.account.userUuid, 'notified', { subject, at: 1 });
  // The fake vault first checks whether it has said so already.
  await somethingIsHeld();
  held.shift()?.();
  await somethingIsHeld();
  const pending = server.transport.nextAskOf('sync');
  const saved = client.turnPage(150, { items: [note({ uuid: uuidNumber(2) })] });
  await pending;
  isHeld = false;
  for (const go of held) go();
  await Promise.all([telling, saved]);
  t.is(client.got.size, 1);
  await client.turnAll();
  t.is(client.got.size, 1);
});
