/**
 * A device with an open socket requests nothing by itself. It catches up with others' saves by the push alone: the
 * published library records the frame, and syncs at its next tick.
 */
import test from 'ava';
import { until } from '../kit/until.ts';
import type { Device } from './device.ts';
import { type DeviceStyle, World } from './world.ts';

const ann = { email: 'ann@example.org', password: 'correct horse battery' };
const bob = { email: 'bob@example.org', password: 'another horse battery' };
const style: DeviceStyle = { pageOrigin: 'other', apiVersion: '20240226' };
/** The tick of the library, and the delay of a busy machine. */
const limitMs = 30_000 + 10_000;
let world: World | undefined;

test.after.always(() => world?.close());

test('an edit in a vault reaches the other device of the account and the other member by the push alone', async (t) => {
  world = await World.open();
  const [a, b] = [await world.device('a', style), await world.device('b', style)];
  await a.client.register(ann);
  await b.client.register(bob);
  await a.vaults.trust(await b.vaults.collaborationId(), 'Bob');
  await b.vaults.trust(await a.vaults.collaborationId(), 'Ann');
  await a.vaults.create('holiday');
  const uuid = await a.client.createNote({ title: 'packing', text: 'tent' });
  t.true(await a.client.sync());
  await a.vaults.moveIn('holiday', 'packing');
  t.true(await a.client.sync());
  await b.client.openSocket();
  await a.vaults.invite('holiday', 'Bob', 'write');
  await until(async () => (await b.vaults.invites()).length === 1);
  t.deepEqual(b.frames.map(typeOf), ['USER_INVITED_TO_SHARED_VAULT']);
  await b.vaults.acceptInvite();
  const a2 = await world.device('a2', style);
  t.is(await a2.client.signIn(ann), undefined);
  await a2.client.openSocket();
  const others = [a2, b];
  const syncsBefore = others.map(syncs);

  await a.client.editNote(uuid, 'tent, stove');
  t.true(await a.client.sync());
  for (const device of others) {
    await until(async () => (await device.vaults.notes())[0]?.text === 'tent, stove', limitMs);
    t.true(device.frames.map(typeOf).includes('ITEMS_CHANGED_ON_SERVER'));
    t.true(device.hasOpenSocket);
  }
  t.deepEqual(
    others.map(syncs),
    syncsBefore.map((count) => count + 1),
  );
  t.deepEqual(world.serverFailures, []);
});

const typeOf = (frame: string): string => JSON.parse(frame).type;

const syncs = ({ answers }: Device): number =>
  answers.filter((answer) => answer === 'POST /v1/items 200').length;
