/**
 * Operations that began with a permission and go on after it has ended: SECURITY.md, "What ends with its permission".
 */
import { existsSync, readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import type { FileStore } from '../../actors/files/store.ts';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { bob } from '../kit/account.ts';
import { makeToken, publish, publisher, showing, startCalendarServer, tokensPath } from '../kit/calendar.ts';
import { type Device, deleteAccount } from '../kit/device.ts';
import { createMemoryFileStore } from '../kit/file-store.ts';
import { RemoteFile, VaultFile } from '../kit/files.ts';
import { gaugeIs, latch, openRaw, type RawConnection } from '../kit/gateway.ts';
import { note } from '../kit/items.ts';
import { type ServerOptions, startServer, type TestServer } from '../kit/server.ts';
import { join, makeVault, vaults } from '../kit/vaults.ts';

/** A running request ends within this time after its permission. */
const endsWithinMs = 8_000;
const last = 'the last bytes';
/** The store gives it in several pieces. */
const chunk = Buffer.concat([Buffer.alloc(200_000, 'x'), Buffer.from(last)]);

/** A store whose every read waits after its first piece until `release` is opened, so that a download lasts. */
function lastingStore() {
  const memory = createMemoryFileStore();
  const release = latch();
  const store: FileStore = {
    ...memory,
    async *read(name, range, signal) {
      for await (const piece of memory.read(name, range, signal)) {
        yield piece;
        await release.promise;
      }
    },
  };
  return { memory, store, release };
}

async function beginToRead(
  t: ExecutionContext,
  server: TestServer,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<RawConnection> {
  const connection = await openRaw(t, server.port);
  const lines = Object.entries({ host: 'a', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.send(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  await connection.received('\r\n\r\n');
  return connection;
}

const beginToDownload = async (t: ExecutionContext, server: TestServer, file: RemoteFile) =>
  beginToRead(t, server, file.base, { 'x-valet-token': await file.token('read'), range: 'bytes=0-' });

/** A reader that takes the head of a long reply and then nothing. */
async function beginToReadSlowly(
  t: ExecutionContext,
  server: TestServer,
  ...request: [string, Record<string, string>]
) {
  const connection = await beginToRead(t, server, ...request);
  connection.socket.pause();
  await gaugeIs(server, 'scriptorium_http_unsent_reply_bytes', (bytes) => bytes > 0);
}

/** How many stalled replies are cut off. */
async function cutIn(server: TestServer, withinMs: number): Promise<number> {
  const before = await cuts(server);
  await server.advance(withinMs);
  return (await cuts(server)) - before;
}

const cuts = async ({ registry }: TestServer): Promise<number> =>
  Number(/^scriptorium_http_replies_cut (\d+)/m.exec(await registry.metrics())?.[1] ?? Number.NaN);

const revoke = async (by: Device, session: Device) =>
  by.call('DELETE', `/v1/sessions/${await session.sessionUuid()}`);
const ban = ({ host }: TestServer, { account }: Device) =>
  host.actors
    .get(UserAdministration, account.userUuid)
    .ask.operatorSetBan({ banned: true, reason: null, by: 'operator' });
const removeMember = (owner: Device, vault: string, { account }: Device) =>
  owner.call('DELETE', `${vaults}/${vault}/users/${account.userUuid}`);

async function withOwnFile(t: ExecutionContext, options: ServerOptions = {}) {
  const { store, release } = lastingStore();
  const server = await startServer(t, { ...options, fileStore: store });
  const phone = await server.device();
  const file = new RemoteFile(await phone.another());
  await file.upload(chunk);
  return { server, phone, file, release };
}

async function withVaultFile(t: ExecutionContext) {
  const { store, release } = lastingStore();
  const server = await startServer(t, { fileStore: store });
  const owner = await server.device();
  const member = await server.device(bob.email);
  const vault = await makeVault(owner);
  await join(owner, vault, member);
  const file = new VaultFile(member, vault);
  await file.on(owner).upload(chunk);
  return { server, owner, member, vault, file, release };
}

test('a download whose permission stands goes on to its end, though its token is spent', async (t) => {
  const { server, file, release } = await withOwnFile(t);
  const download = await beginToDownload(t, server, file);
  t.is(await cutIn(server, 2 * endsWithinMs), 0);
  release.open();
  t.true((await download.received(last)).endsWith(last));
});

const endsOfOwn: Readonly<
  Record<string, (server: TestServer, phone: Device, file: RemoteFile) => Promise<unknown>>
> = {
  'its session is revoked': (_, phone, file) => revoke(phone, file.device),
  'the account is banned': (server, phone) => ban(server, phone),
  'the account is deleted': (_, phone) => deleteAccount(phone),
};

for (const [title, end] of Object.entries(endsOfOwn)) {
  test(`a download is cut off when ${title}`, async (t) => {
    const { server, phone, file } = await withOwnFile(t);
    await beginToDownload(t, server, file);
    await end(server, phone, file);
    t.is(await cutIn(server, endsWithinMs), 1);
  });
}

test('a download is cut off when its token ends', async (t) => {
  const { server, file } = await withOwnFile(t, { files: { valetTokenAgeMs: 3_000 } });
  await beginToDownload(t, server, file);
  t.is(await cutIn(server, 3_000 + endsWithinMs), 1);
});

test('a download of a vault is cut off when the member is removed, and goes on for others', async (t) => {
  const { server, owner, member, vault, file, release } = await withVaultFile(t);
  await beginToDownload(t, server, file);
  const other = await beginToDownload(t, server, file.on(owner));
  t.is((await removeMember(owner, vault, member)).status, 200);
  t.is(await cutIn(server, endsWithinMs), 1);
  release.open();
  t.true((await other.received(last)).endsWith(last));
});

test('a download of a vault is cut off when the file is moved out of it', async (t) => {
  const { server, owner, file } = await withVaultFile(t);
  await beginToDownload(t, server, file);
  const own = file.on(owner);
  const { body } = await own.askForToken('move', 0, { move_operation_type: 'shared-vault-to-user' });
  t.is((await own.call('POST', '/move', body.valetToken)).status, 200);
  t.is(await cutIn(server, endsWithinMs), 1);
});

/** A chunk that the client sends in part, and then stalls. */
async function beginToUpload(t: ExecutionContext, server: TestServer, file: RemoteFile) {
  const token = await file.token('write', chunk.length);
  await file.open(token);
  const connection = await openRaw(t, server.port);
  const headers = `x-valet-token: ${token}\r\nx-chunk-id: 1\r\ncontent-length: ${chunk.length}`;
  connection.send(`POST ${file.base}/upload/chunk HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`);
  connection.send(chunk.subarray(1));
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests > 0);
  return connection;
}

async function isRefused(server: TestServer, connection: RawConnection): Promise<boolean> {
  await server.advance(endsWithinMs);
  connection.send(chunk.subarray(0, 1));
  return (await connection.received('\r\n\r\n')).startsWith('HTTP/1.1 403 ');
}

test('an upload whose permission stands goes on, however slow its client', async (t) => {
  const server = await startServer(t);
  const upload = await beginToUpload(t, server, new RemoteFile(await server.device()));
  await server.advance(2 * endsWithinMs);
  t.false(await isRefused(server, upload));
});

test('an upload ends while its chunk still comes when its session is revoked', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const tablet = await phone.another();
  const upload = await beginToUpload(t, server, new RemoteFile(tablet));
  await revoke(phone, tablet);
  await server.advance(endsWithinMs);
  t.true((await upload.received('\r\n\r\n')).startsWith('HTTP/1.1 403 '));
  await server.advance(1_000);
  t.is(server.files.blobs.size, 0);
});

test('an upload to a vault ends while its chunk still comes when the member may only read', async (t) => {
  const server = await startServer(t);
  const owner = await server.device();
  const member = await server.device(bob.email);
  const vault = await makeVault(owner);
  await join(owner, vault, member);
  const upload = await beginToUpload(t, server, new VaultFile(member, vault));
  await removeMember(owner, vault, member);
  await join(owner, vault, member, 'read');
  await server.advance(endsWithinMs);
  t.true((await upload.received('\r\n\r\n')).startsWith('HTTP/1.1 403 '));
});

test('a data export is cut off when its session is revoked', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const tablet = await phone.another();
  for (let count = 0; count < 20; count += 1) {
    await phone.save(note({ uuid: crypto.randomUUID(), content: `004:${'x'.repeat(1_000_000)}` }));
  }
  const requests = `/v1/users/${tablet.account.userUuid}/requests`;
  const { body } = await tablet.call('POST', requests, { body: { requestType: 'data-export' } });
  await beginToReadSlowly(t, server, body.request.path, { authorization: `Bearer ${tablet.account.access}` });
  await revoke(phone, tablet);
  t.is(await cutIn(server, endsWithinMs), 1);
});

test('a calendar that is still read is cut off when its token is revoked', async (t) => {
  const server = await startCalendarServer(t);
  const phone = await publisher(server);
  for (let count = 0; count < 250; count += 1) {
    await publish(phone, { description: 'x'.repeat(60_000) });
  }
  const { token, uuid } = await makeToken(phone);
  const path = `/dav/calendars/${phone.account.userUuid}/todos`;
  await beginToReadSlowly(t, server, path, showing(token).headers ?? {});
  await phone.call('DELETE', `${tokensPath}/${uuid}`);
  t.is(await cutIn(server, endsWithinMs), 1);
});

test('every promise of the table of what ends with its permission names a test that there is', (t) => {
  const table = readFileSync('SECURITY.md', 'utf8')
    .split('## What ends with its permission')[1]
    ?.split('\n## ')[0];
  const rows = (table ?? '').split('\n').filter((line) => /^\| (?!What |-)/.test(line));
  t.true(rows.length > 10);
  for (const row of rows) {
    const [, title = '', file = ''] = /“(.+)” \(`(.+)`\)/.exec(row) ?? [];
    t.true(existsSync(file) && holdsTest(readFileSync(file, 'utf8'), title), row);
  }
});

/** A title made of parts is written as its template. */
const holdsTest = (source: string, title: string): boolean =>
  source.includes(`test('${title}'`) ||
  Object.keys(endsOfOwn).some((end) => title === `a download is cut off when ${end}`);
