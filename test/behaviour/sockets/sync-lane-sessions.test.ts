/** The sync lane when sessions change, commands take long, and processes stop. */
import test from 'ava';
import { alice } from '../../kit/account.ts';
import { Device, withNewTokens } from '../../kit/device.ts';
import { inVault, note } from '../../kit/items.ts';
import {
  ask,
  askTicket,
  deviceId,
  ended,
  enterLane,
  type LaneSocket,
  run,
  ticketOf,
} from '../../kit/lane.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { startSharedVault } from '../../kit/vaults.ts';

const api = '20240226';
const newNote = () => note({ uuid: crypto.randomUUID() });

async function reauth({ lane }: LaneSocket, ticket: string) {
  return lane.answer(lane.send('REAUTH', { ticket, deviceId }), 'REAUTHENTICATED', 'ERROR');
}

/** Sends `command-1`, which the user's actor has accepted and does not carry out until it is released. */
async function holdCommand({ transport }: TestServer, { lane }: LaneSocket, body: object) {
  const held = transport.holdNextAskOf('sync');
  const sent = await lane.command('command-1', body);
  await lane.answer(sent, 'ACCEPTED');
  return { sent, release: await held };
}

test('after a refresh a command is stale and does nothing, until the socket has the new tokens', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const refreshed = await withNewTokens(phone);
  const body = { api, items: [newNote()], sync_token: null };
  const stale = { code: 'SESSION_STALE', retryable: true };
  t.deepEqual((await run(lane, 'command-1', body)).payload, stale);
  t.deepEqual((await ask(lane, 'command-1', body)).payload, stale);
  t.is((await refreshed.sync({ sync_token: null })).retrieved_items.length, 0);
  t.is((await reauth(lane, await ticketOf(refreshed))).type, 'REAUTHENTICATED');
  t.deepEqual((await ask(lane, 'command-1', body)).payload, { status: 'UNKNOWN' });
  t.is((await run(lane, 'command-1', body)).payload.status, 'COMMITTED');
  t.is((await refreshed.sync({ sync_token: null })).retrieved_items.length, 1);
});

test('a save into a vault is committed although its session gets new tokens before the vault has answered', async (t) => {
  const { server, alice: owner, bob, vault } = await startSharedVault(t);
  const lane = await enterLane(t, bob);
  const item = inVault(vault, newNote());
  const body = { api, items: [item], sync_token: (await bob.sync()).sync_token };
  const held = server.transport.holdNextAskOf('saveItems');
  const sent = await lane.lane.command('command-1', body);
  const release = await held;
  const refreshed = await withNewTokens(bob);
  release();
  t.is((await lane.lane.answer(sent, 'COMMITTED', 'ERROR')).type, 'COMMITTED');
  t.is((await reauth(lane, await ticketOf(refreshed))).type, 'REAUTHENTICATED');
  t.is((await ask(lane, 'command-1', body)).payload.status, 'COMMITTED');
  const found = (await owner.sync({ sync_token: null })).retrieved_items.filter(
    ({ uuid }) => uuid === item.uuid,
  );
  await owner.save({ ...item, content: 'later', updated_at_timestamp: found[0]?.updated_at_timestamp });
  const { result } = (await run(lane, 'command-1', body)).payload;
  t.is(result.saved_items.length, 1);
  t.deepEqual(result.conflicts, []);
});

test('a denial by policy has the same bytes before and after new tokens', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const foreign = { api, shared_vault_uuids: [crypto.randomUUID()] };
  const before = (await run(lane, 'command-1', foreign)).payload;
  t.deepEqual(before, { code: 'NOT_AUTHORIZED', retryable: false });
  await reauth(lane, await ticketOf(await withNewTokens(phone)));
  t.deepEqual((await run(lane, 'command-1', foreign)).payload, before);
});

test('a ban ends the sockets of its account at once', async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([alice.email]) } });
  const admin = await server.device();
  const bob = await server.device('bob@example.org');
  const lane = await enterLane(t, bob);
  const path = `/v1/admin/users/${bob.account.userUuid}/ban-status`;
  t.is((await admin.call('PUT', path, { body: { banned: true } })).status, 200);
  t.deepEqual(await ended(lane), ['NOT_AUTHORIZED', 1008]);
});

test('an access token that has expired makes a command stale', async (t) => {
  const server = await startServer(t, { accounts: { accessTokenAgeMs: 60_000 } });
  const lane = await enterLane(t, await server.device());
  await server.advance(61_000);
  t.is((await run(lane, 'command-1', { api })).payload.code, 'SESSION_STALE');
  t.false(lane.socket.isClosed);
});

test('a socket ends with its session, whoever ends it, and those of other sessions stay', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const signedOut = await enterLane(t, phone);
  const stays = await enterLane(t, laptop);
  await phone.call('POST', '/v1/logout');
  t.deepEqual(await ended(signedOut), ['NOT_AUTHORIZED', 1008]);

  const tablet = await server.device();
  const revoked = await enterLane(t, tablet);
  await laptop.call('DELETE', '/v1/sessions');
  t.deepEqual(await ended(revoked), ['NOT_AUTHORIZED', 1008]);
  t.false(stays.socket.isClosed);
});

test('a socket ends within a minute of the end of its session by age, and not while a refresh has put that off', async (t) => {
  const accounts = { accessTokenAgeMs: 60_000, refreshTokenAgeMs: 600_000 };
  const server = await startServer(t, { accounts });
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  await server.advance(500_000);
  await withNewTokens(phone);
  await server.advance(160_000);
  t.false(lane.socket.isClosed);
  await server.advance(500_000);
  t.deepEqual(await ended(lane), ['NOT_AUTHORIZED', 1008]);
});

test('a ticket of another session, or one that was spent, ends the socket that shows it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const foreign = await enterLane(t, phone);
  foreign.lane.send('REAUTH', { ticket: await ticketOf(laptop), deviceId });
  t.deepEqual(await ended(foreign), ['REAUTH_REJECTED', 1008]);

  const spent = await ticketOf(phone);
  const first = await enterLane(t, phone);
  t.is((await reauth(first, spent)).type, 'REAUTHENTICATED');
  const second = await enterLane(t, phone);
  second.lane.send('REAUTH', { ticket: spent, deviceId });
  t.deepEqual(await ended(second), ['REAUTH_REJECTED', 1008]);
  first.lane.send('REAUTH', { ticket: spent, deviceId });
  t.deepEqual(await ended(first), ['REAUTH_REJECTED', 1008], 'on the socket that has spent it, too');
});

test('the ninth attempt to get new tokens ends the socket', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    t.is((await reauth(lane, await ticketOf(phone))).type, 'REAUTHENTICATED');
  }
  lane.lane.send('REAUTH', { ticket: await ticketOf(phone), deviceId });
  t.deepEqual(await ended(lane), ['REAUTH_REJECTED', 1008]);
});

test('PING and REAUTH do not wait for a command, STATUS does, and a command that is held is not taken over', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const other = await enterLane(t, phone);
  const body = { api, items: [newNote()] };
  const { sent, release } = await holdCommand(server, lane, body);
  const answer = await lane.lane.status('command-1', body);
  await lane.lane.answer(lane.lane.send('PING', {}), 'PONG');
  t.is((await reauth(lane, await ticketOf(phone))).type, 'REAUTHENTICATED');
  const doubled = await run(other, 'command-1', body);
  t.is(doubled.payload.code, 'BUSY', 'the first attempt is not taken over');
  release();
  const late = await lane.lane.answer(sent, 'COMMITTED', 'ERROR');
  t.is(late.payload.status, 'COMMITTED');
  t.is((await lane.lane.answer(answer, 'STATUS')).payload.status, 'COMMITTED');
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 1);
  t.is((await run(other, 'command-1', body)).payload.status, 'COMMITTED');
});

test('STATUS on another socket waits for a command that is held, and says that it is accepted after some seconds', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const other = await enterLane(t, phone);
  const body = { api, items: [newNote()] };
  const { sent, release } = await holdCommand(server, lane, body);
  const early = ask(other, 'command-1', body);
  t.deepEqual((await server.answered(early, 9_000)).payload, { status: 'ACCEPTED' });
  const countBefore = server.transport.commands.length;
  const late = ask(other, 'command-1', body);
  await server.until(() => server.transport.commands.slice(countBefore).includes('getSyncCommand'), 1_000);
  release();
  await lane.lane.answer(sent, 'COMMITTED');
  t.is((await server.answered(late, 1_000)).payload.status, 'COMMITTED');
});

test('a command whose actor has moved before it came is not carried out, and unknown stays true', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const body = { api, items: [newNote()] };
  const { sent, release } = await holdCommand(server, lane, body);
  await server.restart();
  const other = await enterLane(t, phone);
  t.deepEqual((await ask(other, 'command-1', body)).payload, { status: 'UNKNOWN' });
  release();
  t.is((await lane.lane.answer(sent, 'COMMITTED', 'ERROR')).payload.code, 'LEASE_LOST');
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 0);
  t.is((await run(other, 'command-1', body)).payload.status, 'COMMITTED');
});

test('a process that stops answers what it has accepted, closes, and another finds it committed', async (t) => {
  const server = await startServer(t);
  const next = await server.another({});
  const phone = await server.device();
  const lane = await enterLane(t, phone);
  const idle = await enterLane(t, phone);
  const body = { api, items: [newNote()] };
  const { sent, release } = await holdCommand(server, lane, body);
  const drained = server.gateway.drain();
  await server.advance(100);
  release();
  await lane.lane.answer(sent, 'COMMITTED');
  await server.answered(drained, 20_000);
  t.deepEqual(await ended(lane), ['server shutting down', 1001]);
  t.deepEqual(await ended(idle), ['server shutting down', 1001]);
  const moved = new Device({ url: next.url }, phone.account);
  const again = await enterLane(t, moved, next);
  t.is((await ask(again, 'command-1', body)).payload.status, 'COMMITTED');
});

test('a flood of frames, or of commands, ends its socket', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const flooding = await enterLane(t, phone);
  for (let count = 0; count < 40; count += 1) flooding.lane.send('PING', {});
  t.is(await flooding.socket.closed, 1013);
  t.is(flooding.socket.closeReason, 'sync rate limit exceeded');

  const waiting = await enterLane(t, phone);
  const held = server.transport.holdNextAskOf('sync');
  for (let count = 0; count < 9; count += 1) await waiting.lane.command(`command-${count}`, { api });
  t.deepEqual(await ended(waiting), ['BACKPRESSURE', 1013]);
  (await held)();
});

test('nothing of a ticket is logged, and no metric names anybody', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const ticket = await ticketOf(phone);
  const lane = await enterLane(t, phone);
  await run(lane, 'command-1', { api, items: [newNote()] });
  const [, , , , , nonce = ''] = ticket.split('.');
  const said = `${JSON.stringify(server.log)}${await server.registry.metrics()}`;
  for (const secret of [ticket, nonce, phone.account.access, phone.account.userUuid, 'command-1']) {
    t.false(said.includes(secret));
  }
});

test('an account whose lane an administrator has switched off keeps its socket, and syncs over HTTP', async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([alice.email]) } });
  const admin = await server.device();
  const phone = await server.device('bob@example.org');
  const lane = await enterLane(t, phone);
  const path = `/v1/admin/users/${phone.account.userUuid}/feature-flags`;
  const setFlag = (value: string | null) =>
    admin.call('PUT', path, { body: { name: 'LIVE_SYNC_ENABLED', value } });
  t.is((await setFlag('false')).status, 200);
  const body = { api, items: [newNote()] };
  t.deepEqual((await run(lane, 'command-1', body)).payload, { code: 'LIVE_SYNC_DISABLED', retryable: false });
  t.is((await phone.save()).saved_items.length, 1);
  const refused = await askTicket(phone);
  t.is(refused.status, 503);
  t.like(refused.body.error, { code: 'SYNC_DISABLED', tag: 'SYNC_DISABLED' });
  t.regex(refused.body.error.message, /administrator/);
  t.false('transient' in refused.body.error);
  await setFlag(null);
  t.is((await askTicket(phone)).status, 200);
  t.is((await run(lane, 'command-1', body)).payload.status, 'COMMITTED');
});
