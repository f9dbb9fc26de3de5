/** Every command of the operator command line, run against the internal API: text, JSON, refusals and exit codes. */

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { kinds } from '../../../actors/kinds.ts';
import { serverCredentials } from '../../../operations/access.ts';
import { alice, register } from '../../kit/account.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { type ApiWorld, addDead, addNode, ownNode, shardCount, startApi } from '../../kit/internal-api.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';
import { buildCommandLine, type CommandLine, type Ended } from './command-line.ts';

const nobody = '11111111-1111-4111-8111-111111111111';
let commandLine: CommandLine;

test.before(async () => {
  commandLine = await buildCommandLine();
});
test.after.always(() => commandLine?.remove());

const at = ({ address }: ApiWorld) => {
  const run = (...args: readonly string[]) => commandLine(['--address', address, ...args]);
  return {
    run,
    /** The document of a command that must succeed. */
    async json(...args: readonly string[]) {
      const { code, out, err } = await run(...args, '--json');
      if (code !== 0) throw new Error(`exit code ${code}: ${err}`);
      return JSON.parse(out);
    },
  };
};

const linesOf = ({ out }: Ended) => out.trimEnd().split('\n');

test.serial('nodes: a table that fits 100 columns, and one document', async (t) => {
  const world = await startApi(t);
  await addNode(world, `other-${'x'.repeat(90)}`);
  const { run, json } = at(world);
  const view = await run('nodes');
  t.like(view, { code: 0, err: '' });
  const lines = linesOf(view);
  t.regex(lines[0] ?? '', /^NODE +STATE +ROLES +SHARDS +LEASE +VERSION +ADDRESS$/);
  t.regex(lines[1] ?? '', /^other-x+…x+ +LIVE +all +0 +10 s +0 +http:\/\/other-x+…x+\.test$/);
  t.regex(lines[2] ?? '', /^test +LIVE +all +16 +/);
  t.true(lines.every((line) => line.length <= 100));
  const { nodes } = await json('nodes');
  t.like(nodes[1], { id: ownNode, state: 'LIVE', roles: 'all', shards: shardCount, version: '0' });
});

test.serial('shards: a summary, all of them, those of one node', async (t) => {
  const world = await startApi(t);
  await addNode(world, 'idle');
  const { run, json } = at(world);
  t.deepEqual(linesOf(await run('shards')), [
    'NODE  SHARDS',
    'test      16',
    '',
    '16 shards, 0 without an owner',
  ]);
  const all = linesOf(await run('shards', '--all'));
  t.is(all.length, 1 + shardCount + 2);
  t.regex(all[1] ?? '', /^ +0 {2}test +\d+$/);
  t.like(await json('shards'), { shardCount, freeShards: 0, nodes: [{ node: ownNode, shards: shardCount }] });
  t.is((await json('shards', '--all', '--node', ownNode)).shards.length, shardCount);
  t.deepEqual((await json('shards', '--all', '--node', 'idle')).shards, []);
  t.deepEqual(await run('shards', '--node', 'unknown'), {
    code: 1,
    out: '',
    err: 'There is no node with that name.\n',
  });
});

test.serial('where and evict: an actor in memory, out of it, and one that does not exist', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  const { run, json } = at(world);
  const view = linesOf(await run('where', 'user', userUuid)).map((line) => line.replace(/ {2,}/, ': '));
  t.is(view[0], 'node: test');
  t.true(view.includes('waits for: nothing'));
  t.true(view.some((line) => line.startsWith('in memory: active')));
  t.like(await json('where', 'user', userUuid), {
    actor: { kind: 'user', id: userUuid },
    exists: true,
    node: ownNode,
    phase: 'ACTIVE',
    waitsFor: 'NOTHING',
  });
  t.deepEqual(await run('evict', 'user', userUuid), {
    code: 0,
    out: 'It is no longer in memory.\n',
    err: '',
  });
  t.is((await json('where', 'user', userUuid)).phase, 'PASSIVE');
  t.like(await run('evict', 'user', userUuid), { code: 1, out: '' });

  const absent = await run('where', 'user', nobody);
  t.is(absent.code, 1);
  t.regex(absent.out, /^There is no such actor\. It would live in shard \d+ on test\.\n$/);
  const document = await run('where', 'user', nobody, '--json');
  t.is(document.code, 1);
  t.like(JSON.parse(document.out), { exists: false, version: null });
  t.deepEqual(await run('where', 'ghost', 'x'), {
    code: 64,
    out: '',
    err: `actor.kind is not a kind of actor; there are: ${kinds.map(({ name }) => name).join(', ')}.\n`,
  });
});

test.serial(
  'drain: a node whose shards no other would take only when that is meant, and --wait shows how far it is',
  async (t) => {
    const world = await startApi(t);
    const { store } = world.server.host;
    const { run, json } = at(world);
    const last = await run('drain', ownNode);
    t.is(last.code, 1);
    t.regex(last.err, /^No other node .* Use --yes to drain it anyway\.\n$/);

    await addNode(world, 'other');
    t.deepEqual(await json('drain', ownNode), { node: ownNode, draining: true, shards: shardCount });
    t.is((await json('nodes')).nodes[1].state, 'DRAINING');
    const late = await run('drain', ownNode, '--wait', '--timeout-ms', '1');
    t.is(late.code, 69);
    t.is(
      linesOf({ ...late, out: late.err }).at(-1),
      'test still holds 16 shards after 1 ms. It is still draining.',
    );

    const waiting = run('drain', ownNode, '--wait');
    const own = (await store.nodes()).find(({ id }) => id === ownNode);
    const incarnation = own?.incarnation ?? '';
    await store.release(incarnation, await store.shardsOf(incarnation));
    const done = await waiting;
    t.like(done, { code: 0, out: 'test holds no shard and takes none.\n' });

    t.like(await run('undrain', ownNode), { code: 0, out: 'test takes shards again.\n' });
    t.is((await json('nodes')).nodes[1].state, 'LIVE');
    t.deepEqual(await json('undrain', ownNode), { node: ownNode, draining: false });
    t.like(await run('undrain', 'unknown'), { code: 1 });
    t.deepEqual(await json('rebalance'), { asked: true });
    t.deepEqual(world.hints.at(-1), { hint: 'rebalance' });
    t.is((await run('rebalance')).code, 0);
    t.is((await run('drain', 'other', '--yes')).code, 0);
  },
);

test.serial('timers: what waits and what is dead, and trying it again', async (t) => {
  const world = await startApi(t);
  await addDead(world, nobody);
  const { run, json } = at(world);
  const view = linesOf(await run('timers'));
  t.regex(view[0] ?? '', /^ACTOR +NAME +DUE +TRIES$/);
  t.regex(view[1] ?? '', /^user\/1{8}-\S+ {2}purge {2}2025-12-31 00:00:00 UTC +10$/);
  t.is(view.at(-1), '0 timers pending, 1 dead');
  t.deepEqual(await json('timers', '--limit', '1'), {
    pending: 0,
    deadCount: 1,
    dead: [
      { actor: { kind: 'user', id: nobody }, name: 'purge', due: '2025-12-31T00:00:00.000Z', attempts: 10 },
    ],
  });
  t.like(await run('timers', '--revive', 'user/x/purge'), { code: 1, out: '' });
  t.like(await run('timers', '--revive', `user/${nobody}/purge`), {
    code: 0,
    out: '1 timer will be retried.\n',
  });
  t.deepEqual(await json('timers', '--revive', 'all'), { revived: 0 });
});

test.serial('tells: what waits and what is dead, and trying it again', async (t) => {
  const world = await startApi(t);
  const { tellId } = await addDead(world, nobody);
  const { run, json } = at(world);
  const view = linesOf(await run('tells'));
  t.regex(view[0] ?? '', /^TELL +NAME +TARGET +TRIES$/);
  t.true(view[1]?.includes(tellId) && view[1].includes(`user/${nobody}`));
  t.true(view.every((line) => line.length <= 100));
  t.like((await json('tells')).dead[0], { tellId, name: 'greet', target: { kind: 'user', id: nobody } });
  t.deepEqual(await json('tells', '--revive', tellId), { revived: 1 });
  t.is((await json('tells')).deadCount, 0);
});

test.serial('user: found by address, shown, and signed out only when that is meant', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  const { run, json } = at(world);
  t.deepEqual(await run('user', 'find', 'Alice@example.org'), { code: 0, out: `${userUuid}\n`, err: '' });
  t.deepEqual(await json('user', 'find', alice.email), { userUuid });
  t.deepEqual(await run('user', 'find', 'bob@example.org'), {
    code: 1,
    out: '',
    err: 'No user has that address in that workspace.\n',
  });
  const view = (await run('user', 'show', userUuid)).out;
  t.regex(view, /^e-mail +alice@example\.org$/m);
  t.regex(view, /^sessions +1$/m);
  t.like(await json('user', 'show', userUuid), {
    userUuid,
    state: 'ACTIVE',
    email: alice.email,
    sessions: 1,
    roles: ['CORE_USER', 'PRO_USER'],
    created: new Date(world.server.clock.nowMs()).toISOString(),
  });
  t.deepEqual(await run('user', 'sign-out', userUuid), {
    code: 1,
    out: '',
    err: 'This would end 1 session of the user, on every device. Use --yes to do it.\n',
  });
  t.deepEqual(await json('user', 'sign-out', userUuid, '--yes'), { userUuid, endedSessions: 1 });
  t.like(await run('user', 'sign-out', userUuid, '--yes'), { code: 0, out: '0 sessions ended.\n' });
  t.like(await run('user', 'promote', userUuid), { code: 0, out: 'The user is an administrator now.\n' });
  t.deepEqual(await json('user', 'promote', userUuid), { userUuid, changed: false });
  t.regex((await run('user', 'show', userUuid)).out, /INTERNAL_TEAM_USER/);
  t.like(await run('user', 'demote', userUuid), {
    code: 0,
    out: 'The user is no longer an administrator.\n',
  });
  t.like(await run('user', 'ban', userUuid), {
    code: 1,
    err: 'This would end 0 sessions of the user and let none begin. Use --yes to do it.\n',
  });
  t.deepEqual(await json('user', 'ban', userUuid, '--reason', 'spam', '--yes'), { userUuid, changed: true });
  t.like(await run('user', 'ban', userUuid, '--yes'), { code: 0, out: 'The user was already banned.\n' });
  t.regex((await run('user', 'show', userUuid)).out, /^access +none: banned$/m);
  t.like(await run('user', 'unban', userUuid), { code: 0, out: 'The user may sign in again.\n' });
  t.deepEqual(await json('user', 'unban', userUuid), { userUuid, changed: false });
  const [titles = '', newest = ''] = linesOf(await run('user', 'audit', userUuid));
  t.regex(titles, /^NUMBER +LAST +EVENT +TIMES +FROM +DEVICE$/);
  t.regex(newest, /^ +\d+ .* UTC +unbanned +1$/);
  const { events, before } = await json('user', 'audit', userUuid, '--before', '3');
  t.deepEqual(
    [events.map(({ event }: { event: string }) => event), before],
    [['signed-out-by-operator', 'registered'], null],
  );
  t.like(await run('user', 'demote', nobody), { code: 1, err: 'There is no user with that uuid.\n' });
  t.like(await run('user', 'show', nobody), { code: 1, err: 'There is no user with that uuid.\n' });
  t.like(await run('user', 'show', 'bob'), { code: 64, err: 'user_uuid is not a uuid.\n' });
});

test.serial('health: each check, and exit code 69 for a node that does not serve', async (t) => {
  const world = await startApi(t);
  const { run, json } = at(world);
  t.deepEqual(linesOf(await run('health')), [
    'CHECK     STATUS',
    'database  SERVING',
    'host      SERVING',
    'the node  SERVING',
  ]);
  t.deepEqual(await json('health'), { serving: true, checks: { database: 'SERVING', host: 'SERVING' } });
  world.checks['database'] = 'failed';
  const unwell = await run('health', '--json');
  t.is(unwell.code, 69);
  t.like(JSON.parse(unwell.out), { serving: false, checks: { database: 'NOT_SERVING' } });
});

test.serial(
  'a node that is not there, or does not answer in time, is exit code 69 with a sentence',
  async (t) => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    t.teardown(() => silent.close());
    const { port } = silent.address() as { port: number };
    const late = await commandLine(['nodes', '--address', `127.0.0.1:${port}`, '--deadline-ms', '300']);
    t.deepEqual(late, {
      code: 69,
      out: '',
      err: `127.0.0.1:${port} did not answer within 300 ms; allow more time with --deadline-ms.\n`,
    });
    const absent = await commandLine(['nodes'], { GRPC_PORT: '1' });
    t.is(absent.code, 69);
    t.regex(
      absent.err,
      /^No connection to 127\.0\.0\.1:1 \(connect ECONNREFUSED\)\. Is a node running there\?/,
    );
  },
);

test.serial('the address comes from the environment of the node, whatever else is wrong there', async (t) => {
  const { address } = await startApi(t);
  const GRPC_PORT = address.split(':')[1] ?? '';
  const { code } = await commandLine(['nodes'], { GRPC_HOST: '127.0.0.1', GRPC_PORT, PORT: 'wrong' });
  t.is(code, 0);
  const wrong = await commandLine(['nodes'], { GRPC_PORT: 'ninety' });
  t.is(wrong.code, 64);
  t.regex(wrong.err, /GRPC_PORT is not a whole number: "ninety"/);
});

test.serial('without a port in the environment it asks the socket in the data directory', async (t) => {
  const { api } = await startApi(t);
  const DATA_DIR = temporaryFolder(t);
  const socket = join(DATA_DIR, 'internal-api.sock');
  await api.listenOnSocket(socket);
  t.like(await commandLine(['nodes'], { DATA_DIR }), { code: 0, err: '' });
  t.like(await commandLine(['nodes', '--address', `unix:${socket}`]), { code: 0, err: '' });
  const absent = await commandLine(['nodes'], { DATA_DIR: join(DATA_DIR, 'other') });
  t.is(absent.code, 69);
  t.regex(absent.err, /^No connection to unix:\S+ \(connect ENOENT\)\. Is a node running there\? .*DATA_DIR/);
});

test.serial(
  'a port that asks for the token is shown what is in the data directory, or in a file',
  async (t) => {
    const { address } = await startApi(t, { token: 'right' });
    const DATA_DIR = temporaryFolder(t);
    const file = join(DATA_DIR, 'internal-api-token');
    const without = await commandLine(['nodes', '--address', address], { DATA_DIR });
    t.is(without.code, 1);
    t.regex(without.err, /^The internal API needs its token.* --token names the file\.\n$/);
    writeFileSync(file, 'right\n');
    t.is((await commandLine(['nodes', '--address', address], { DATA_DIR })).code, 0);
    t.is((await commandLine(['nodes', '--address', address, '--token', file])).code, 0);
  },
);

test.serial('with mutual TLS the command line shows its certificate', async (t) => {
  const authority = createAuthority();
  t.teardown(() => authority.remove());
  const node = authority.issue('node.test');
  const credentials = serverCredentials({
    certificate: readFileSync(node.cert),
    key: readFileSync(node.key),
    clientCa: readFileSync(authority.ca),
  });
  const { address } = await startApi(t, { credentials });
  const operator = authority.issue('operator');
  const certificates = ['--ca', authority.ca, '--cert', operator.cert, '--key', operator.key];
  const known = await commandLine(['nodes', '--address', address, ...certificates]);
  t.like(known, { code: 0, err: '' });
  t.is(
    (await commandLine(['nodes', '--address', address, ...certificates, '--server-name', 'node.test'])).code,
    0,
  );
  t.is(
    (await commandLine(['nodes', '--address', address, ...certificates, '--server-name', 'other.test'])).code,
    69,
  );
  const unknown = await commandLine(['nodes', '--address', address, '--ca', authority.ca]);
  t.is(unknown.code, 69);
  t.regex(unknown.err, /^No connection to .* --ca, --cert and --key\.\n$/);
  t.is((await commandLine(['nodes', '--address', address])).code, 69);

  const [host = '', port = ''] = address.split(':');
  const ofNode = { GRPC_CLIENT_CA_FILE: authority.ca, GRPC_CERT_FILE: node.cert, GRPC_KEY_FILE: node.key };
  t.is((await commandLine(['nodes'], { GRPC_HOST: host, GRPC_PORT: port, ...ofNode })).code, 0);
});
