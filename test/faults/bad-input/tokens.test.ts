/** Tokens, cookies, uuids and sync tokens that are forged, damaged or somebody else's. */
import { randomBytes, randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { type Call, callsOf, targetOf } from './calls.ts';
import { damage, damaged } from './damage.ts';
import { forAll, holds } from './property.ts';
import type { Answer } from './raw-http.ts';
import {
  type Account,
  bearer,
  dataOf,
  type Headers,
  jsonType,
  marker,
  newItem,
  type Sync,
  tagOf,
  World,
} from './world.ts';

let world: World;
let guarded: readonly Call[];
let cookieUser: Account;
test.before(async () => {
  world = await World.open();
  guarded = (await callsOf(world)).filter(({ needsSession }) => needsSession);
  cookieUser = await world.register('20240226');
});
test.after.always(() => world.close());

const authorization = (token: string): Headers => [['Authorization', `Bearer ${token}`]];
const withCookies = (headers: Headers, cookies: readonly string[]): Headers => [
  ...headers,
  ['Cookie', cookies.join('; ')],
];

/** The parts of a token: its content, its proof, and the secret of the session. */
function parts({ accessToken, refreshToken }: Account) {
  const [, said = '', mac = '', secret = ''] = /^(.*)\.([\w-]+)(?::([\w-]+))?$/.exec(accessToken) ?? [];
  return { said, mac, secret, refreshSecret: refreshToken.split(':')[2] ?? '' };
}

/** Without a session every guarded route gives the same answer, whatever else is wrong. */
async function isRefusedEverywhere(headers: Headers, what: string): Promise<void> {
  await forAll(guarded, async (call) => {
    const { method } = call;
    const target = targetOf(call);
    const body = method === 'GET' ? undefined : '{';
    const answer = await world.ask({ method, target, headers: [...jsonType, ...headers], body });
    if (answer.status !== 401 || tagOf(answer) !== 'invalid-auth') {
      throw new Error(`${answer.status} to ${method} ${target} with ${what}`);
    }
  });
}

test.serial(
  'a bearer this server did not make is refused by every route before its body is read',
  async (t) => {
    t.true(guarded.length >= 9);
    const { sender, canary } = world;
    const [own, other] = [parts(sender), parts(canary)];
    const foreign: Record<string, string> = {
      nothing: '',
      'another user named': `${own.said.replace(sender.userUuid, canary.userUuid)}.${own.mac}:${own.secret}`,
      'the mac of another session': `${own.said}.${other.mac}:${own.secret}`,
      'the text of another session': `${other.said}.${own.mac}:${own.secret}`,
      'a made up session': `1:${sender.userUuid}.${randomUUID()}.${own.mac}:${own.secret}`,
      'the other style': `2${own.said.slice(1)}.${own.mac}`,
      'no version': sender.accessToken.slice(2),
      'a legacy token': `eyJhbGciOiJub25lIn0.${Buffer.from(`{"user_uuid":"${canary.userUuid}"}`).toString('base64url')}.`,
      'no mac': `${own.said}:${own.secret}`,
      'in capitals': sender.accessToken.toUpperCase(),
      twice: `${sender.accessToken}${sender.accessToken}`,
      'a very long one': `1:${'f'.repeat(20_000)}`,
    };
    for (const [what, token] of Object.entries(foreign))
      await isRefusedEverywhere(authorization(token), what);
    await isRefusedEverywhere([['Authorization', `Basic ${sender.accessToken}`]], 'another scheme');
    await isRefusedEverywhere([['Cookie', cookieUser.cookies.join('; ')]], 'cookies alone');
    await world.rest();
  },
);

const list = (headers: Headers) => world.ask({ method: 'GET', target: '/v1/sessions', headers });

test.serial('with the secret of another session a token opens nothing', async (t) => {
  const { sender, canary } = world;
  const [own, other] = [parts(sender), parts(canary)];
  for (const secret of [
    other.secret,
    own.refreshSecret,
    'A'.repeat(43),
    randomBytes(32).toString('base64url'),
  ]) {
    const answer = await list(authorization(`${own.said}.${own.mac}:${secret}`));
    t.is(answer.status, 401);
    t.is(tagOf(answer), 'invalid-auth');
  }
  const { accessToken: foreignToken } = await world.register('20240226');
  const wrongCookies = [[], sender.cookies, canary.cookies, cookieUser.cookies.slice(1)];
  for (const cookies of wrongCookies) {
    t.is((await list(withCookies(bearer(cookieUser), cookies))).status, 401);
  }
  t.is((await list(withCookies(authorization(foreignToken), cookieUser.cookies))).status, 401);
  t.is((await list(withCookies(bearer(cookieUser), cookieUser.cookies))).status, 200);
  t.is((await list(withCookies(bearer(cookieUser), wrongCookies[1] ?? []))).status, 401);
  await world.rest();
});

test.serial('a token with anything changed opens nothing', async (t) => {
  const isRefused = fc.asyncProperty(damage, fc.boolean(), async (change, ofCookies) => {
    const user = ofCookies ? cookieUser : world.sender;
    const token = damaged(user.accessToken, change);
    fc.pre(token !== user.accessToken);
    const answer = await list(withCookies(authorization(token), cookieUser.cookies));
    t.is(answer.status, 401, token);
    t.is(tagOf(answer), 'invalid-auth');
  });
  await holds(isRefused, 250);
  t.is((await list(bearer(world.sender))).status, 200);
  await world.rest();
});

test.serial('a cookie with anything changed opens nothing', async (t) => {
  const [access = ''] = cookieUser.cookies;
  const secretFrom = access.indexOf('=') + 1;
  const isRefused = fc.asyncProperty(damage, async (change) => {
    const secret = damaged(access.slice(secretFrom), change);
    fc.pre(secret !== access.slice(secretFrom));
    const cookie = access.slice(0, secretFrom) + secret;
    t.is((await list(withCookies(bearer(cookieUser), [cookie]))).status, 401);
  });
  await holds(isRefused, 80);
  await world.rest();
});

function refresh(access: string, refreshToken: string, cookies: readonly string[] = []): Promise<Answer> {
  const body = { api: '20240226', access_token: access, refresh_token: refreshToken };
  return world.post('/v1/sessions/refresh', body, withCookies([], cookies));
}

test.serial('a pair that is not one session’s own refreshes nothing', async (t) => {
  const { sender, canary } = world;
  const pairs: readonly [access: string, refreshToken: string, cookies?: readonly string[]][] = [
    [sender.accessToken, sender.accessToken],
    [sender.refreshToken, sender.refreshToken],
    [sender.refreshToken, sender.accessToken],
    [sender.accessToken, (await world.register()).refreshToken],
    [sender.accessToken, cookieUser.refreshToken, cookieUser.cookies],
    [cookieUser.accessToken, cookieUser.refreshToken],
    [cookieUser.accessToken, cookieUser.refreshToken, cookieUser.cookies.slice(0, 1)],
    [cookieUser.accessToken, cookieUser.refreshToken, sender.cookies],
    [sender.accessToken.replace(sender.userUuid, canary.userUuid), sender.refreshToken],
    ['\0', '\ud800'],
  ];
  for (const [access, refreshToken, cookies] of pairs) {
    t.is((await refresh(access, refreshToken, cookies)).status, 400);
  }
  const isRefused = fc.asyncProperty(damage, fc.boolean(), async (change, ofAccess) => {
    const token = ofAccess ? sender.accessToken : sender.refreshToken;
    const changed = damaged(token, change);
    fc.pre(changed !== token);
    const { status } = await (ofAccess
      ? refresh(changed, sender.refreshToken)
      : refresh(sender.accessToken, changed));
    t.is(status, 400);
  });
  await holds(isRefused, 60);
  t.is((await list(bearer(sender))).status, 200);
  await world.rest();
});

test.serial('these tests would notice what belongs to the other user', async (t) => {
  await t.throwsAsync(world.post('/v1/items', {}, bearer(world.canary)), { message: /another user/ });
});

test.serial("another user's items and settings are not found, not changed and not shown", async (t) => {
  const { sender, canary, planted } = world;
  const headers = bearer(sender);
  const statusOf = async (method: string, target: string, body?: object, more: Headers = []) =>
    (await world.ask({ method, target, headers: [...headers, ...more], body: body && JSON.stringify(body) }))
      .status;
  const passwords = {
    current_password: canary.password,
    new_password: marker,
    pw_nonce: marker,
    version: '004',
  };
  const [, session = ''] = /\.([0-9a-f-]{36})\./.exec(canary.accessToken) ?? [];
  t.not(session, '');
  for (const { uuid } of planted) {
    t.is(await statusOf('GET', `/v1/items/${uuid}`), 404);
    t.is(await statusOf('GET', `/v1/items/${uuid.toUpperCase()}`), 404);
  }
  t.is(await statusOf('DELETE', `/v1/sessions/${session}`), 400);
  t.true((await statusOf('PUT', `/v1/users/${canary.userUuid}/attributes/credentials`, passwords)) >= 400);
  t.true((await statusOf('PUT', `/v1/users/${canary.userUuid}/password`, passwords)) >= 400);
  const password: Headers = [['x-server-password', canary.password]];
  t.true((await statusOf('DELETE', `/v1/users/${canary.userUuid}`, undefined, password)) >= 400);
  t.is(await statusOf('DELETE', '/v1/sessions'), 204);
  await world.rest();
});

test.serial('an account is not deleted without its password, and with it all its tokens end', async (t) => {
  const leaving = await world.register();
  const deletion = (account: Account, password = account.password) => {
    const headers: Headers = [...bearer(account), ['x-server-password', password]];
    return world.ask({ method: 'DELETE', target: `/v1/users/${account.userUuid}`, headers });
  };
  for (const password of ['', ' ', marker, '\xff', '"', 'x'.repeat(20_000)]) {
    const { status } = await deletion(leaving, password);
    t.true(status >= 400, `${status} with ${password.slice(0, 10)}`);
    t.is((await list(bearer(leaving))).status, 200);
  }
  const gone = await world.register();
  t.is((await deletion(gone)).status, 200);
  for (const path of ['/v1/items', '/v1/items/check-integrity', '/v1/logout']) {
    t.is((await world.post(path, {}, bearer(gone))).status, 401, path);
  }
  t.is((await list(bearer(gone))).status, 401);
  t.is((await refresh(gone.accessToken, gone.refreshToken)).status, 400);
  await world.rest();
});

test.serial('an item of another user is neither overwritten nor shown', async (t) => {
  const { planted } = world;
  const take = async (fields: object) => {
    const items = planted.map(({ uuid }) => ({ ...newItem({ uuid }), ...fields }));
    const answer = await world.post('/v1/items', { api: '20240226', items });
    return dataOf(answer) as Sync;
  };
  for (const fields of [
    {},
    { updated_at_timestamp: 1 },
    { deleted: true },
    { user_uuid: world.canary.userUuid },
  ]) {
    const { saved_items: saved, conflicts } = await take(fields);
    t.is(saved.length, 0);
    t.deepEqual([...new Set(conflicts.map(({ type }) => type))], ['uuid_conflict']);
    t.true(conflicts.every(({ server_item: item }) => item === undefined));
  }
  const payloads = planted.map(({ uuid }) => ({ uuid, updated_at_timestamp: 1 }));
  const checked = await world.post('/v1/items/check-integrity', { integrityPayloads: payloads });
  const { mismatches } = dataOf(checked) as { mismatches: { uuid: string; updated_at_timestamp: number }[] };
  for (const { uuid, updated_at_timestamp: at } of mismatches) {
    t.false(planted.some((item) => item.uuid === uuid) && at !== 0);
  }
  await world.rest();
});

test.serial('with a sync or cursor token of another user one gets all of one’s own items', async (t) => {
  const own = newItem();
  t.is((await world.post('/v1/items', { api: '20240226', items: [own] })).status, 200);
  const { sync_token: foreign } = await world.syncOf(world.canary);
  const uuids = (await world.everythingOf(world.sender)).map(({ uuid }) => uuid).sort();
  const tokens = [
    foreign,
    foreign.slice(1),
    `${foreign}x`,
    Buffer.from('2:1616164633.241312').toString('base64'),
    Buffer.from('2:NaN').toString('base64'),
    Buffer.from(`4:${'A'.repeat(22)}..9007199254740993`).toString('base64url'),
    Buffer.from(`4:${'A'.repeat(22)}..-1`).toString('base64url'),
    Buffer.from('4:..1').toString('base64url'),
    Buffer.from(`4${':A.~.1'.repeat(9)}`).toString('base64url'),
    '\0',
    '\ud800',
    '__proto__',
    'x'.repeat(200_000),
  ];
  for (const token of tokens) {
    for (const field of ['sync_token', 'cursor_token']) {
      const answer = await world.post('/v1/items', { api: '20240226', limit: 300, [field]: token });
      t.is(answer.status, 200, `${field} ${token.slice(0, 60)}`);
      const { retrieved_items: items } = dataOf(answer) as Sync;
      t.deepEqual(items.map(({ uuid }) => uuid).sort(), uuids);
    }
  }
  await world.rest();
});

/**
 * A missing item has no history, a vault of others no invites, and nothing of them is deleted; an unknown command is
 * unknown: 200.
 */
const listPaths = new Set([
  '/v2/items/{itemUuid}/revisions',
  '/v2/items/{itemUuid}/revisions/{id}',
  '/v1/shared-vaults/{sharedVaultUuid}/invites',
  '/v1/items/sync-command/{commandId}',
]);

test.serial('a uuid in a path may be any text', async (t) => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      '__proto__',
      'constructor',
      'null',
      '0',
      '%00',
      "' or 1=1",
      '00000000-0000-0000-0000-000000000000',
    ),
    fc.uuid().map((uuid) => uuid.toUpperCase()),
  );
  const named = guarded.filter(({ path }) => path.includes('{'));
  t.true(named.length >= 5);
  const isRefused = fc.asyncProperty(fc.constantFrom(...named), odd, async (call, text) => {
    const { method } = call;
    const headers = [...jsonType, ...bearer(world.sender)];
    const answer = await world.ask({ method, target: targetOf(call, text), headers });
    const isEmpty = answer.status === 200 && listPaths.has(call.path);
    t.true(
      isEmpty || answer.status >= 400,
      `${answer.status} to ${method} ${call.path} ${JSON.stringify(text)}`,
    );
  });
  await holds(isRefused, 120);
  await world.rest();
});
