/** An idle sync of a vault member, by what it takes: look-ups of vaults, reads of the database, replies made into JSON. */
import test from 'ava';
import { UnchangedSinceMarkers } from '../../../runtime/read/unchanged-since.ts';
import type { StoreRead } from '../../../runtime/store/store.ts';
import { FakeClock } from '../../kit/clock.ts';
import { note } from '../../kit/items.ts';
import { ModelDatabase, ModelStore } from '../../kit/model-store/model-store.ts';
import { startServer } from '../../kit/server.ts';
import { join, makeVault } from '../../kit/vaults.ts';

const counts = { lookUps: 0, reads: 0, replies: 0 };

class CountingStore extends ModelStore {
  override read(reads: readonly StoreRead[]) {
    counts.reads += reads.length;
    return super.read(reads);
  }
}

const { of } = UnchangedSinceMarkers.prototype;
UnchangedSinceMarkers.prototype.of = function (address) {
  counts.lookUps += 1;
  return of.call(this, address);
};

const { get } = WeakMap.prototype;
/** The JSON of a reply is made only after it was looked for among those that are kept. */
WeakMap.prototype.get = function (key: object) {
  const known: unknown = get.call(this, key);
  if (known === undefined && 'retrieved_items' in key) counts.replies += 1;
  return known;
};

test('an idle sync of a vault member looks up no vault, reads nothing and makes no reply into JSON', async (t) => {
  const clock = new FakeClock();
  const store = new CountingStore(new ModelDatabase(clock));
  const server = await startServer(t, { host: { clock, store } });
  const [alice, bob] = [await server.device(), await server.device('bob@example.org')];
  const shared = [await makeVault(alice), await makeVault(alice), await makeVault(alice)];
  for (const vault of shared) await join(alice, vault, bob);
  await bob.syncAll();
  const countedSync = async () => {
    Object.assign(counts, { lookUps: 0, reads: 0, replies: 0 });
    await bob.sync();
    return { ...counts };
  };
  await countedSync();
  await countedSync();
  t.deepEqual(await countedSync(), { lookUps: 0, reads: 0, replies: 0 });
  t.deepEqual(await countedSync(), { lookUps: 0, reads: 0, replies: 0 });
  await alice.save(note({ shared_vault_uuid: shared[0], key_system_identifier: 'system' }));
  const found = await countedSync();
  t.true(found.lookUps > 0 && found.reads > 0 && found.replies > 0, 'a change is looked for in full');
});
