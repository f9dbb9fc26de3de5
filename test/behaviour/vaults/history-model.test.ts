/**
 * Random saves, moves, deletions and restarts. After each, every listed revision must read back exactly as it was saved. The list
 * must be that of a model that stores a copy of each revision (docs/protocol/sync.md, "Revisions").
 */
import test from 'ava';
import { defaultItemSettings } from '../../../actors/collection/settings.ts';
import { accepted, type Device } from '../../kit/device.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { SeededRandom } from '../../kit/random.ts';
import { startServer } from '../../kit/server.ts';
import { join, makeVault, vaults as vaultsPath } from '../../kit/vaults.ts';

const pauseMs = 60_000;
const itemCount = 3;

type Place = string | null;

interface Revision {
  readonly content: string;
  /** The vault that it was made in. */
  readonly place: Place;
}

interface Model {
  place: Place;
  version: number;
  deleted: boolean;
  revisedAtMs: number;
  /** The last save has made the newest revision. */
  holds: boolean;
  /** The newest first. */
  history: Revision[];
}

const path = (uuid: string, id = '') => `/v2/items/${uuid}/revisions${id && `/${id}`}`;

async function listed(device: Device, uuid: string): Promise<readonly { readonly uuid: string }[]> {
  return accepted(await device.call('GET', path(uuid))).revisions;
}

async function contents(device: Device, uuid: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const revision of await listed(device, uuid)) {
    found.push(accepted(await device.call('GET', path(uuid, revision.uuid))).revision.content);
  }
  return found;
}

for (const seed of [1, 2, 3, 4]) {
  test(`each revision is what was saved, through any saves, moves and deletions (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    // Odd seeds read everything from the store, even ones from memory where they can.
    const limits = seed % 2 === 1 ? { cachedRowBytesMax: 0 } : {};
    const server = await startServer(t, {
      items: { revisions: { ...defaultItemSettings.revisions, pauseMs } },
      host: { limits },
    });
    const alice = await server.device();
    const bob = await server.device('bob@example.org');
    const vaults = [await makeVault(alice), await makeVault(alice)];
    for (const vault of vaults) await join(alice, vault, bob);
    const items = new Map<string, Model>();

    const save = async (uuid: string, step: number) => {
      const stored = items.get(uuid);
      const deleted = stored !== undefined && random.chance(0.15);
      const stays = stored !== undefined && (deleted || stored.deleted || random.chance(0.6));
      const place = stays ? stored.place : random.pick([null, ...vaults]);
      const by = stays && place !== null ? random.pick([alice, bob]) : alice;
      const content = `${step}`.repeat(1 + random.below(40));
      const sent = note({
        uuid,
        deleted,
        ...(deleted ? { content: null, enc_item_key: null } : { content }),
        shared_vault_uuid: place,
        key_system_identifier: place === null ? null : 'system',
        updated_at_timestamp: stored?.version ?? 0,
      });
      const { saved_items: saved, conflicts } = await by.sync({ items: [sent] });
      t.deepEqual(conflicts, [], `step ${step}`);
      const version = saved[0]?.updated_at_timestamp ?? t.fail(`step ${step}`);
      const nowMs = server.clock.nowMs();
      const revisedAtMs = stored?.revisedAtMs ?? 0;
      const holds = !deleted && (revisedAtMs === 0 || nowMs - revisedAtMs >= pauseMs);
      const history = deleted ? [] : (stored?.history ?? []);
      items.set(uuid, {
        place,
        version,
        deleted,
        holds,
        revisedAtMs: deleted ? 0 : holds ? nowMs : revisedAtMs,
        history: holds ? [{ content, place }, ...history] : history,
      });
    };

    const deleteRevision = async (uuid: string) => {
      const found = await listed(alice, uuid);
      const stored = items.get(uuid);
      if (found.length === 0 || stored === undefined) return;
      const at = random.below(found.length);
      accepted(await alice.call('DELETE', path(uuid, found[at]?.uuid)));
      if (at === 0) stored.holds = false;
      stored.history = stored.history.toSpliced(at, 1);
    };

    const check = async (step: number | string) => {
      for (const [uuid, { history: made, place, deleted }] of items) {
        const history = deleted ? [] : made;
        const all = history.map(({ content }) => content);
        t.deepEqual(await contents(alice, uuid), all, `step ${step}, ${uuid}`);
        const ofVault = history.filter((each) => place !== null && each.place === place);
        const his = ofVault.map(({ content }) => content);
        t.deepEqual(await contents(bob, uuid), his, `step ${step}, ${uuid}`);
      }
    };

    for (let step = 0; step < 50; step += 1) {
      const uuid = uuidNumber(1 + random.below(itemCount));
      const what = random.pick([
        'save',
        'save',
        'save',
        'save',
        'wait',
        'wait',
        'delete',
        'restart',
      ] as const);
      if (what === 'save') await save(uuid, step);
      else if (what === 'wait') await server.advance(random.pick([10_000, pauseMs + 1_000]));
      else if (what === 'delete') await deleteRevision(uuid);
      else await server.restart();
      await check(step);
    }

    // The history in a vault ends with it. The revision that an item holds comes home with the item.
    const [ended = ''] = vaults;
    t.is((await alice.call('DELETE', `${vaultsPath}/${ended}`)).status, 200);
    await server.advance(2_000_000);
    for (const stored of items.values()) {
      const { place, holds, history } = stored;
      const isLeft = (each: Revision, at: number) =>
        each.place !== ended || (place === ended && holds && at === 0);
      stored.history = history.filter(isLeft);
      if (place === ended) stored.place = null;
    }
    await check('at the end');
  });
}
