/**
 * Slots of calendar tokens and of calendars, which one actor counts for all accounts. Whatever happens at the same moment, and
 * whenever the host dies, every account with a token or a to-do holds its slot. No other account holds any.
 */
import test, { type ExecutionContext } from 'ava';
import { calendarId } from '../../actors/calendar/contract.ts';
import {
  publish,
  publisher,
  startCalendarServer,
  todosPath,
  tokensPath,
  unpublish,
} from '../kit/calendar.ts';
import { atEveryCommit, Death } from '../kit/death.ts';
import { type Device, deleteAccount } from '../kit/device.ts';
import type { TestServer } from '../kit/server.ts';

/** Longer than a slot stays reserved, and than a deleted account waits for that. */
const forgottenMs = 5 * 60_000;

const make = (device: Device) => device.call('POST', tokensPath, { body: { label: 'phone' } });
const revokeAll = (device: Device) => device.call('DELETE', tokensPath);

async function slotsTaken({ host }: TestServer) {
  const slices = (await host.store.slices({ kind: 'calendar', id: calendarId })).map(({ slice }) => slice);
  const of = (family: string) => slices.filter((slice) => slice.startsWith(family)).length;
  return { tokens: of('token-slot'), publishers: of('publisher-slot') };
}

/** The parts of an account that need slots. */
async function slotsNeeded(device: Device) {
  const listed = await device.call('GET', tokensPath);
  if (listed.status === 401) return { tokens: 0, publishers: 0 };
  const { todos } = (await device.call('GET', todosPath)).body;
  return { tokens: listed.body.tokens.length, publishers: todos.length > 0 ? 1 : 0 };
}

async function startScene(t: ExecutionContext, death = new Death()) {
  const server = await startCalendarServer(t, { host: { schedule: death.schedule } });
  return { server, death, phone: await publisher(server) };
}

type Act = (device: Device) => Promise<unknown>;
const first: Act = (device) => publish(device, { uid: 'a' });
const last: Act = (device) => unpublish(device, 'a');

const inTurn: Readonly<Record<string, readonly Act[]>> = {
  'a token is made': [make],
  'tokens are made and revoked': [make, make, revokeAll],
  'a first to-do is published': [first],
  'a calendar is filled, emptied and filled again': [first, last, first],
  'an account with tokens and to-dos ends': [make, first, deleteAccount],
};

for (const [what, acts] of Object.entries(inTurn)) {
  test(`${what}, and the host dies around any commit: as many slots are taken as are needed`, async (t) => {
    t.timeout(120_000);
    const deaths = await atEveryCommit(async (commit, isApplied) => {
      const { server, death, phone } = await startScene(t);
      death.plan(commit, isApplied);
      let isOver = false;
      const calls = (async () => {
        for (const act of acts) await act(phone);
        isOver = true;
      })();
      await server.until(() => isOver || death.isDead, 10_000);
      const { isDead } = death;
      death.over();
      if (isDead) await server.restart();
      await server.answered(calls, 60_000);
      await server.advance(forgottenMs);
      const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
      t.deepEqual(await slotsTaken(server), await slotsNeeded(phone), step);
      return isDead;
    });
    t.true(deaths >= 4, `${deaths}`);
  });
}

const atOnce: Readonly<Record<string, readonly Act[]>> = {
  'tokens are made and all revoked': [make, make, revokeAll, make],
  'two first to-dos are published': [first, (device) => publish(device, { uid: 'b' })],
  'a to-do is published and taken back': [first, last, first],
  'a token is made, a to-do published, and the account ends': [make, first, deleteAccount],
};

for (const [what, acts] of Object.entries(atOnce)) {
  test(`${what} at the same moment: as many slots are taken as are needed`, async (t) => {
    const { server, phone } = await startScene(t);
    await server.answered(Promise.all(acts.map((act) => act(phone))));
    await server.advance(forgottenMs);
    t.deepEqual(await slotsTaken(server), await slotsNeeded(phone));
  });
}

test('a slot whose taking was under way when its account ended is given back all the same', async (t) => {
  const { server, phone } = await startScene(t);
  const held = server.transport.holdNextAskOf('takeSlot');
  const made = make(phone);
  const release = await held;
  t.is((await server.answered(deleteAccount(phone))).status, 200);
  await server.advance(10_000);
  release();
  t.is((await server.answered(made)).status, 401);
  t.deepEqual(await slotsTaken(server), { tokens: 1, publishers: 0 });
  await server.advance(forgottenMs);
  t.deepEqual(await slotsTaken(server), { tokens: 0, publishers: 0 });
});

test('a slot that was wanted long ago keeps no late call from being answered, and none is had for nothing', async (t) => {
  const { server, phone } = await startScene(t);
  const held = server.transport.holdNextAskOf('takeSlot');
  const late = make(phone);
  const release = await held;
  await server.advance(forgottenMs);
  t.is((await server.answered(make(phone))).status, 201);
  release();
  t.true((await server.answered(late)).status >= 400);
  await server.advance(forgottenMs);
  t.deepEqual(await slotsTaken(server), await slotsNeeded(phone));
});
