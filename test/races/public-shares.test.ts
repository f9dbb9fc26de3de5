/** A share and its owner: whatever happens at the same moment, on any number of nodes, and whenever the host dies. */
import test, { type ExecutionContext } from 'ava';
import { isRefused } from '../../actors/reply.ts';
import { Share } from '../../actors/share/contract.ts';
import { shareContentTable } from '../../actors/share/share.ts';
import { PublicShares } from '../../actors/user/public-shares/contract.ts';
import type { Commit, Store } from '../../runtime/store/store.ts';
import { FakeClock } from '../kit/clock.ts';
import { Death } from '../kit/death.ts';
import type { Device } from '../kit/device.ts';
import { ModelDatabase, ModelStore } from '../kit/model-store/model-store.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const list = '/v1/shares';
const terms = { type: 'note', encryptedPayload: 'opaque', oneTimeView: true } as const;

const room = { roomBytes: 1_000 };

const make = (device: Device) => device.call('POST', list, { body: terms });
const revoke = (device: Device, id: string) => device.call('DELETE', `${list}/${id}`);
const listed = async (device: Device): Promise<{ uuid: string; revoked: boolean }[]> =>
  (await device.call('GET', list)).body.shares;

test('one of a thousand who open a one-time share at the same moment gets it', async (t) => {
  const server = await startServer(t);
  const owner = await server.device();
  const { shareId } = (await make(owner)).body;
  const share = server.host.actors.get(Share, shareId);
  const answers = await server.answered(
    Promise.all(Array.from({ length: 1_000 }, () => share.ask.view(room, { deadlineMs: 60_000 }))),
    60_000,
  );
  t.is(answers.filter((answer) => !isRefused(answer)).length, 1);
  const refusals = new Set(answers.flatMap((each) => (isRefused(each) ? [each.refused.reason] : [])));
  t.deepEqual([...refusals], ['not-found']);
});

test('a reader without capacity for what a share holds is told so, and has not opened it', async (t) => {
  const server = await startServer(t);
  const { shareId } = (await make(await server.device())).body;
  const { ask } = server.host.actors.get(Share, shareId);
  const needsBytes = terms.encryptedPayload.length;
  t.deepEqual(await ask.view({ roomBytes: needsBytes - 1 }), { ok: { needsBytes } });
  t.false(isRefused(await ask.view({ roomBytes: needsBytes })));
  t.true(isRefused(await ask.view({ roomBytes: needsBytes - 1 })));
});

test('a reader who opens a share while it is revoked gets it or a 404, and nobody gets it afterwards', async (t) => {
  const server = await startServer(t);
  const owner = await server.device();
  for (let round = 0; round < 10; round += 1) {
    const { shareId } = (await make(owner)).body;
    const view = () => server.call('GET', `${list}/${shareId}`);
    const [revoked, ...opened] = await Promise.all([revoke(owner, shareId), view(), view()]);
    t.is(revoked.status, 200);
    t.true(opened.filter(({ status }) => status === 200).length <= 1);
    t.is((await view()).status, 404);
  }
});

test('revoking is answered once the share itself is over, and not before', async (t) => {
  let left = Number.POSITIVE_INFINITY;
  const held: (() => void)[] = [];
  const schedule = async <T>(method: keyof Store, apply: () => T): Promise<T> => {
    if (method === 'commit') left -= 1;
    if (left < 0) await new Promise<void>((resolve) => held.push(resolve));
    return apply();
  };
  const server = await startServer(t, { host: { schedule } });
  const owner = await server.device();
  const { shareId } = (await make(owner)).body;
  // The owner's own commit passes, and later commits to the share wait.
  left = 1;
  let isAnswered = false;
  const revoked = revoke(owner, shareId).finally(() => {
    isAnswered = true;
  });
  await server.until(() => isAnswered || held.length > 0, 5_000);
  await server.advance(2_000);
  t.true(held.length > 0);
  t.false(isAnswered);
  left = Number.POSITIVE_INFINITY;
  for (const release of held) release();
  t.is((await server.answered(revoked, 30_000)).status, 200);
  t.is((await server.call('GET', `${list}/${shareId}`)).status, 404);
});

interface Scene {
  readonly server: TestServer;
  readonly owner: Device;
  readonly death: Death;
}

/** Every request of the device gets an answer in the end, and the host has died around this commit if it came to it. */
async function dying<T>(
  t: ExecutionContext,
  commit: number,
  isApplied: boolean,
  scene: Scene,
  call: () => Promise<T>,
) {
  const { server, death } = scene;
  death.plan(commit, isApplied);
  let isOver = false;
  const answered = call().finally(() => {
    isOver = true;
  });
  await server.until(() => isOver || death.isDead, 5_000);
  const { isDead } = death;
  death.over();
  if (isDead) await server.restart();
  t.log(`commit ${commit}, ${isApplied ? 'applied' : 'lost'}, ${isDead ? 'died' : 'not reached'}`);
  return { answer: await server.answered(answered, 60_000), isDead };
}

async function startScene(t: ExecutionContext): Promise<Scene> {
  const death = new Death();
  const server = await startServer(t, { host: { schedule: death.schedule } });
  return { server, owner: await server.device(), death };
}

for (const isApplied of [false, true]) {
  const what = isApplied ? 'after' : 'before';
  test(`a host dies ${what} any commit of making a share: it is listed and opens, or neither`, async (t) => {
    let deaths = 0;
    for (let commit = 1; ; commit += 1) {
      const scene = await startScene(t);
      const { answer, isDead } = await dying(t, commit, isApplied, scene, () => make(scene.owner));
      const { server, owner } = scene;
      const shares = await listed(owner);
      t.is(shares.length, answer.status === 200 ? 1 : 0);
      for (const { uuid } of shares) t.is((await server.call('GET', `${list}/${uuid}`)).status, 200);
      if (!isDead) break;
      deaths += 1;
    }
    t.true(deaths >= 2);
  });

  test(`a host dies ${what} any commit of revoking or opening a share: it does not open again`, async (t) => {
    let deaths = 0;
    for (const how of ['revoke', 'open'] as const) {
      for (let commit = 1; ; commit += 1) {
        const scene = await startScene(t);
        const { server, owner } = scene;
        const { shareId } = (await make(owner)).body;
        const view = () => server.call('GET', `${list}/${shareId}`);
        const ends = how === 'revoke' ? () => revoke(owner, shareId) : view;
        const { answer, isDead } = await dying(t, commit, isApplied, scene, ends);
        t.is(answer.status, 200);
        t.is((await view()).status, 404);
        await server.advance(200_000);
        t.true((await listed(owner))[0]?.revoked);
        const read = { read: 'keys', table: shareContentTable, keys: [{ share_uuid: shareId }] } as const;
        t.is((await server.host.store.read([read]))[0]?.rows.length, 0);
        if (!isDead) break;
        deaths += 1;
      }
    }
    t.true(deaths >= 3);
  });
}

/** Tracks every share whose ciphertext is stored, and stores that of the first only with that of the second. */
class PairingStore extends ModelStore {
  readonly stored = new Set<unknown>();
  #bothCame = () => {};
  readonly #both = new Promise<void>((resolve) => {
    this.#bothCame = resolve;
  });

  override async commit(commits: readonly Commit[]): ReturnType<ModelStore['commit']> {
    const puts = commits
      .flatMap(({ writes }) => writes)
      .flatMap((write) => ('put' in write && write.table.name === shareContentTable.name ? [write.put] : []));
    for (const put of puts) this.stored.add(put['share_uuid']);
    if (this.stored.size === 2) this.#bothCame();
    if (puts.length > 0) await this.#both;
    return super.commit(commits);
  }
}

test('the second of two shares made at once where there is room for one leaves no ciphertext behind', async (t) => {
  const clock = new FakeClock();
  const store = new PairingStore(new ModelDatabase(clock));
  const accounts = { shareBytesMax: terms.encryptedPayload.length };
  const server = await startServer(t, { accounts, host: { clock, store } });
  const owner = await server.device();
  const answers = await server.answered(Promise.all([make(owner), make(owner)]), 30_000);
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  const ids = [...store.stored].map((share_uuid) => ({ share_uuid }) as { share_uuid: string });
  t.is(ids.length, 2);
  // Far sooner than the share would ask its owner.
  await server.advance(10_000);
  const [read] = await store.read([{ read: 'keys', table: shareContentTable, keys: ids }]);
  t.deepEqual(
    read?.rows.map(({ share_uuid }) => share_uuid),
    answers.flatMap(({ body }) => body.shareId ?? []),
  );
});

test('a share that was stored and never listed opens for nobody, and goes', async (t) => {
  const server = await startServer(t);
  const owner = await server.device();
  const ownerUuid = owner.account.userUuid;
  const uuid = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';
  const share = server.host.actors.get(Share, uuid);
  const otherShareId = (await make(owner)).body.shareId;
  await share.ask.create({ ownerUuid, ...terms, viewExpiresMinutes: null });
  t.true(isRefused(await share.ask.view(room)));
  await server.advance(660_000);
  const keys = [{ share_uuid: uuid }, { share_uuid: otherShareId }];
  const [read] = await server.host.store.read([{ read: 'keys', table: shareContentTable, keys }]);
  t.deepEqual(
    read?.rows.map(({ share_uuid }) => share_uuid),
    [otherShareId],
  );
  const { ask } = server.host.actors.get(PublicShares, ownerUuid);
  t.true((await ask.showsShare({ shareUuid: otherShareId })).shows);
});
