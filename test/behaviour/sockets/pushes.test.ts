/** A client that accepts pushes by the rule, beside one that only syncs: both end with the same state. */
import test from 'ava';
import type { Device } from '../../kit/device.ts';
import { fakeVault, tellUser } from '../../kit/fake-vault.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { SeededRandom } from '../../kit/random.ts';
import { startServer } from '../../kit/server.ts';

interface Pushed {
  readonly syncToken: string;
  readonly baseSyncToken: string;
  readonly items: readonly {
    readonly uuid: string;
    readonly updated_at_timestamp: number;
    deleted: boolean;
  }[];
}

/** The state of a client: versions of items, notifications, and the token for its next sync. */
class Client {
  readonly versions = new Map<string, number>();
  readonly notifications = new Set<string>();
  readonly device: Device;

  constructor(device: Device) {
    this.device = device;
  }

  async sync(items: readonly object[] = [], limit = 150): Promise<number> {
    let received = 0;
    let cursor: string | undefined;
    do {
      const reply = await this.device.sync({
        items: cursor === undefined ? items : [],
        limit,
        ...(cursor && { cursor_token: cursor }),
      });
      for (const { uuid, updated_at_timestamp: at } of [...reply.retrieved_items, ...reply.saved_items]) {
        this.versions.set(uuid, Math.max(at, this.versions.get(uuid) ?? 0));
      }
      for (const { uuid } of reply.notifications) this.notifications.add(uuid);
      received += reply.retrieved_items.length + reply.notifications.length;
      cursor = reply.cursor_token;
    } while (cursor !== undefined);
    return received;
  }

  /** False if it must be a sync. */
  apply({ baseSyncToken, syncToken, items }: Pushed): boolean {
    if (this.device.syncToken !== baseSyncToken) return false;
    for (const { uuid, updated_at_timestamp: at } of items) {
      if ((this.versions.get(uuid) ?? 0) >= at) throw new Error('applied twice');
      this.versions.set(uuid, at);
    }
    this.device.syncToken = syncToken;
    return true;
  }

  get state() {
    return { versions: [...this.versions].toSorted(), notifications: [...this.notifications].toSorted() };
  }
}

const large = 'x'.repeat(20_000);
const steps = 50;

for (let seed = 1; seed <= 4; seed += 1) {
  test(`a device that takes pushes has what a sync gives, under the same token (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const chance = (of: number) => random.fraction() < of;
    const server = await startServer(t, { moreKinds: [fakeVault] });
    const phone = new Client(await server.device());
    const laptop = new Client(await server.device());
    const tablet = new Client(await server.device());
    const { userUuid } = phone.device.account;
    const socket = await laptop.device.socket(t);
    let frames = 0;
    let applied = 0;
    let pushed = 0;

    const draft = (n: number) => {
      const uuid = uuidNumber(n);
      const version = phone.versions.get(uuid) ?? 0;
      const content = chance(0.2) ? large : `text ${random.fraction()}`;
      return note({ uuid, updated_at_timestamp: version, content, deleted: chance(0.1) && version > 0 });
    };

    async function save(by: Client): Promise<void> {
      await by.sync();
      if (by !== phone) await phone.sync();
      const uuids = new Set(
        Array.from({ length: 1 + Math.floor(random.fraction() * 3) }, () =>
          Math.floor(random.fraction() * 12),
        ),
      );
      const items = [...uuids].map(draft);
      await by.sync(items);
      if (by === laptop) return;
      const bytes = items.reduce(
        (sum, { content, deleted }) => sum + (deleted ? 0 : String(content).length),
        0,
      );
      frames += bytes > 16_384 ? 1 : 2;
      const last = JSON.parse((await socket.received(frames)).at(-1) ?? '');
      if (last.type !== 'SYNC_ITEMS_PUSHED' || !chance(0.8) || !laptop.apply(last.payload)) {
        if (chance(0.6)) await laptop.sync();
        return;
      }
      applied += 1;
      const token = laptop.device.syncToken;
      t.is(await laptop.sync(), 0, 'something was skipped');
      t.is(laptop.device.syncToken, token, 'not the token of a sync');
    }

    for (let step = 0; step < steps; step += 1) {
      const what = random.fraction();
      const limit = 1 + Math.floor(random.fraction() * 3);
      if (what < 0.5) await save(phone);
      else if (what < 0.6) await save(laptop);
      else if (what < 0.75) await tablet.sync([], limit);
      else if (what < 0.85) await laptop.sync([], limit);
      else {
        pushed += 1;
        const subject = {
          type: 'shared_vault_item_removed',
          vaultUuid: uuidNumber(99),
          itemUuid: uuidNumber(pushed),
        } as const;
        await tellUser(server, userUuid, 'notified', { subject, at: pushed });
        frames += 1;
        await socket.received(frames);
      }
    }
    await laptop.sync();
    await tablet.sync();
    t.deepEqual(laptop.state, tablet.state);
    t.is(laptop.notifications.size, pushed);
    t.is(socket.texts.length, frames);
    t.true(applied > 3, `${applied} applied`);
  });
}

test('a push names what was saved and where it leads, and neither a long text nor many items are pushed', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: [note()] });
  await laptop.sync();
  const own = await phone.socket(t);
  const socket = await laptop.socket(t);
  const base = laptop.syncToken;
  const { saved_items: saved, sync_token: syncToken } = await phone.sync({
    items: [note({ uuid: uuidNumber(2), content: 'new' })],
  });
  const [plain, pushed] = (await socket.received(2)).map((text) => JSON.parse(text));
  t.is(plain.type, 'ITEMS_CHANGED_ON_SERVER');
  t.is(pushed.type, 'SYNC_ITEMS_PUSHED');
  const [item] = (await laptop.sync()).retrieved_items;
  t.like(pushed.payload, {
    userUuid: phone.account.userUuid,
    sessionUuid: await phone.sessionUuid(),
    syncToken,
    baseSyncToken: base,
    items: [item],
  });
  t.is(item?.updated_at_timestamp, saved[0]?.updated_at_timestamp);
  const many = Array.from({ length: 51 }, (_, n) => note({ uuid: uuidNumber(n + 10), content: 'x' }));
  await phone.sync({ items: many });
  await phone.sync({ items: [note({ uuid: uuidNumber(3), content: large })] });
  const types = (await socket.received(4)).map((text) => JSON.parse(text).type);
  t.deepEqual(types.slice(2), ['ITEMS_CHANGED_ON_SERVER', 'ITEMS_CHANGED_ON_SERVER']);
  t.deepEqual([socket.texts.length, own.texts.length], [4, 0]);
});
