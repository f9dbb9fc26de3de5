/** Accounts that take all they can of a shared resource: SECURITY.md, "Shares of common resources". */
import test from 'ava';
import { Calendar, calendarId } from '../../actors/calendar/contract.ts';
import { gatewaySettings } from '../../gateway/settings.ts';
import { defaultsOf } from '../../runtime/setting.ts';
import { bob } from '../kit/account.ts';
import { makeToken, publisher, startCalendarServer } from '../kit/calendar.ts';
import { assistantOf } from '../kit/no-providers.ts';
import { startServer } from '../kit/server.ts';
import { isRefused } from '../kit/socket-client.ts';

test('accounts that make all the calendar tokens they can leave some to others', async (t) => {
  const server = await startCalendarServer(t);
  const { ask } = server.host.actors.get(Calendar, calendarId);
  let slotsHeld = 0;
  for (let account = 0; account < 20; account += 1) {
    const take = (slot: number) =>
      ask.takeSlot({ slot: `${account}-${slot}`, purpose: 'token', userUuid: `account-${account}` });
    for (let slot = 0; slot < 600 && (await take(slot)).granted; slot += 1) slotsHeld += 1;
  }
  t.true(slotsHeld > 1_000 && slotsHeld < 2_000, `${slotsHeld}`);
  t.truthy((await makeToken(await publisher(server))).token);
});

test('accounts that take all the places of the assistant they can leave some to others', (t) => {
  const assistant = assistantOf({ streamsMax: 500 });
  for (let account = 0; account < 125; account += 1) {
    for (let slot = 0; slot < 4; slot += 1) assistant.takeSlot(`account-${account}`);
  }
  t.true(assistant.streams >= 250);
  const before = assistant.streams;
  const release = assistant.takeSlot('somebody');
  t.truthy(release);
  release?.();
  release?.();
  t.is(assistant.streams, before);
});

test('an account that opens all the sockets it can leaves some to others', async (t) => {
  const sockets = { ...defaultsOf(gatewaySettings).sockets, socketsMax: 20, socketsPerUserMax: 100 };
  const server = await startServer(t, { gateway: { sockets } });
  const greedy = await server.device();
  let opened = 0;
  for (; opened < 20; opened += 1) {
    const dialled = await greedy.dial(t);
    if (!isRefused(dialled)) continue;
    t.is(dialled.status, 429);
    break;
  }
  t.is(opened, 8);
  t.false(isRefused(await (await server.device(bob.email)).dial(t)));
});
