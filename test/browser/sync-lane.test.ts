/**
 * One account, two devices: the unmodified client library over HTTP, and a worker with the published client of the sync lane.
 * The worker has no keys. It edits a note by saving an earlier ciphertext of it again.
 */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { Device } from './device.ts';
import { World } from './world.ts';

const account = { email: 'lane@example.org', password: 'correct horse battery' };
const limitMs = 20_000;

interface Item {
  readonly uuid: string;
  readonly content_type: string;
  readonly content: string;
  readonly enc_item_key: string;
}

test('a client over HTTP and a worker on the lane edit one account, through cuts, a crash and a revocation', async (t) => {
  t.timeout(120_000);
  const world = await World.open();
  t.teardown(() => world.close());
  const a = await world.device('a', { pageOrigin: 'other', apiVersion: '20240226' });
  const b = await world.device('b', { pageOrigin: 'other', apiVersion: '20200115' });
  await a.client.register(account);
  const uuid = await a.client.createNote({ title: 'shared', text: 'first' });
  t.true(await a.client.sync());
  t.is(await b.client.signIn(account), undefined);
  const { value: token } = await b.client.accessToken();
  await b.lane.start({ host: world.serverUrl, token });

  const first = await notePulled(b, uuid);
  await a.client.editNote(uuid, 'second');
  t.true(await a.client.sync());
  const second = await notePulled(b, uuid);
  t.not(second.content, first.content);

  /** The newest version of the note with the ciphertext of another one. */
  const saved = async (text: Item) => {
    const { content, enc_item_key } = text;
    const newest = await notePulled(b, uuid);
    return b.lane.run({
      id: randomUUID(),
      body: { api: '20240226', items: [{ ...newest, content, enc_item_key }] },
    });
  };
  const textAtA = async () => {
    t.true(await a.client.sync());
    return (await a.client.notes())[0]?.text;
  };
  t.is((await saved(first)).by, 'lane');
  t.is(await textAtA(), 'first');

  await b.lane.cut();
  t.is((await saved(second)).by, 'lane');
  t.is(await textAtA(), 'second');

  const [answer] = await Promise.all([saved(first), world.crash(() => {})]);
  t.is(answer.status, 200);
  t.deepEqual(answer.data['conflicts'], []);
  t.is(await textAtA(), 'first');
  t.is((await a.client.notes()).length, 1);

  // A client that has met a dead server ignores the lane for a minute. A new one does not know of it.
  await b.lane.start({ host: world.serverUrl, token });
  await a.client.editNote(uuid, 'third');
  t.true(await a.client.sync());
  t.not((await notePulled(b, uuid)).content, first.content);
  t.is(await b.lane.state(), 'ready');

  const others = (await a.client.sessions()).filter(({ current }) => !current);
  for (const session of others) t.is(await a.client.revokeSession(session.uuid), undefined);
  await untilState(b, 'http-only');
  t.is((await b.lane.run({ id: randomUUID(), body: { api: '20240226' } })).status, 401);
  t.true(await a.client.isInSync());
  t.is(await textAtA(), 'third');
  t.deepEqual(world.serverFailures, []);
});

async function notePulled({ lane }: Device, uuid: string): Promise<Item> {
  const { data } = await lane.run({ id: randomUUID(), body: { api: '20240226', sync_token: null } });
  const found = data['retrieved_items'].find((item: Item) => item.uuid === uuid);
  if (found === undefined) throw new Error('The note did not come.');
  return found;
}

async function untilState({ lane }: Device, state: string): Promise<void> {
  const untilMs = performance.now() + limitMs;
  while ((await lane.state()) !== state) {
    if (performance.now() > untilMs) throw new Error(`The lane is ${await lane.state()}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
