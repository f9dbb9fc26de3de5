/** Values of wrong types and out of range in every field of every route, with a session and without. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import {
  type Call,
  callsOf,
  type Field,
  goodFields,
  objectText,
  targetOf,
  typeOf,
  typesOf,
} from './calls.ts';
import { forAll, holds } from './property.ts';
import type { Answer } from './raw-http.ts';
import { oddKey, oddText, oddTexts } from './values.ts';
import {
  bearer,
  dataOf,
  type Headers,
  jsonType,
  marker,
  newItem,
  type Sync,
  World,
  withoutLimits,
} from './world.ts';

let world: World;
let calls: readonly Call[];
test.before(async () => {
  world = await World.open({ ...withoutLimits, WORKSPACES_PER_EMAIL_ENABLED: 'true' });
  calls = await callsOf(world);
});
test.after.always(() => world.close());

type Members = Readonly<Record<string, string>> | readonly [string, string][];

/** The fields go where the route reads them. */
function send(call: Call, members: Members, headers: Headers): Promise<Answer> {
  const { method, inQuery } = call;
  const target = targetOf(call);
  if (!inQuery) {
    return world.ask({ method, target, headers: [...jsonType, ...headers], body: objectText(members) });
  }
  const pairs = Array.isArray(members) ? (members as [string, string][]) : Object.entries(members);
  const query = new URLSearchParams(pairs);
  return world.ask({ method, target: `${target}?${query}`, headers });
}

/** The request of a route: its declaration says whether it must be refused. */
function mustRefuse(call: Call, field: Field, text: string | undefined): boolean {
  if (text === undefined) return field.required;
  const types = typesOf(field);
  return !call.inQuery && types !== undefined && !types.has(typeOf(JSON.parse(text)));
}

/** Signing out would end the session that all other tests use; it takes no field. */
const takingFields = () => calls.filter(({ fields }) => fields.length > 0);

test.serial('a field of a wrong type, out of range or absent is refused by every route', async (t) => {
  t.true(takingFields().length >= 10);
  const cases = takingFields().flatMap((call) =>
    call.fields.flatMap((field) => [...oddTexts, undefined].map((text) => ({ call, field, text }))),
  );
  const oneOfEachType = cases.filter(
    ({ call, field, text }, index) => mustRefuse(call, field, text) || index % 5 === 0,
  );
  await forAll(oneOfEachType, async ({ call, field, text }) => {
    const { [field.name]: _replaced, ...others } = goodFields(call);
    const members = text === undefined ? others : { ...others, [field.name]: text };
    const what = `${call.method} ${call.path} ${field.name}: ${text}`;
    const { status } = await send(call, members, bearer(world.sender));
    if (mustRefuse(call, field, text)) t.true(status >= 400, `${status} to ${what}`);
    if (call.needsSession) t.is((await send(call, members, [])).status, 401, what);
  });
  await world.rest();
});

test.serial(
  'fields that are unknown, doubled or named like what objects inherit change nothing',
  async (t) => {
    const sent = fc.record({
      call: fc.constantFrom(...takingFields()),
      unknown: fc.array(fc.tuple(oddKey, oddText), { maxLength: 5 }),
      doubled: fc.option(oddText),
      signedIn: fc.boolean(),
    });
    const isAnswered = fc.asyncProperty(sent, async ({ call, unknown, doubled, signedIn }) => {
      const good = Object.entries(goodFields(call));
      const [name] = good.at(-1) ?? [''];
      const again: [string, string][] = doubled === null ? [] : [[name, doubled]];
      const { status } = await send(
        call,
        [...good, ...again, ...unknown],
        signedIn ? bearer(world.sender) : [],
      );
      if (call.needsSession && !signedIn) t.is(status, 401);
    });
    await holds(isAnswered, 150);
    await world.rest();
  },
);

test.serial('the last value of a repeated field counts', async (t) => {
  t.is((await world.post('/v1/items', '{"limit":"x","limit":5}')).status, 200);
  t.is((await world.post('/v1/items', '{"limit":5,"limit":"x"}')).status, 400);
});

test.serial('a name that a prototype would hold is no field', async (t) => {
  const hidden = objectText({ email: '"a@bad.test"', code_challenge: '"x"', limit: '"x"' });
  const inherited = `{"__proto__":${hidden},"constructor":{"prototype":${hidden}}}`;
  t.is((await world.post('/v2/login-params', inherited, [])).status, 400);
  t.is((await world.post('/v1/items', inherited)).status, 200);
  t.is((await world.post('/v2/login-params', '{}', [])).status, 400);
});

const itemFields = [...Object.keys(newItem()), 'auth_hash', 'duplicate_of', 'key_system_identifier'];
const oddItem = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...itemFields), oddKey), oddText), {
  minLength: 1,
  maxLength: 3,
});

test.serial(
  'items with anything in their fields are saved or refused one by one, and can be read',
  async (t) => {
    const isAccounted = fc.asyncProperty(
      fc.array(oddItem, { maxLength: 4 }),
      fc.boolean(),
      async (odd, legacy) => {
        const items = odd.map((replaced) =>
          objectText([...Object.entries(newItem()).map(withText), ...replaced]),
        );
        const api = legacy ? '20161215' : '20240226';
        const answer = await world.post('/v1/items', `{"api":"${api}","items":[${items}]}`);
        t.is(answer.status, 200);
        const { saved_items: saved, conflicts } = dataOf(answer) as Sync;
        if (!legacy) t.is(saved.length + conflicts.length, items.length);
        for (const { uuid } of saved) {
          const read = await world.ask({
            method: 'GET',
            target: `/v1/items/${uuid}`,
            headers: bearer(world.sender),
          });
          t.is(read.status, 200);
        }
      },
    );
    await holds(isAccounted, 250);
    const all = await world.everythingOf(world.sender);
    t.true(all.length > 0);
    t.is((await world.post('/v1/items', {})).status, 200);
    t.is((await world.post('/v1/items/check-integrity', { integrityPayloads: all })).status, 200);
    await world.rest();
  },
);

const withText = ([name, value]: [string, unknown]): [string, string] => [name, JSON.stringify(value)];

test.serial('integrity payloads may be anything', async (t) => {
  const payload = fc.array(fc.tuple(fc.constantFrom('uuid', 'updated_at_timestamp', '__proto__'), oddText));
  const isAnswered = fc.asyncProperty(fc.array(payload, { maxLength: 3 }), async (payloads) => {
    const text = `{"integrityPayloads":[${payloads.map((members) => objectText(members))}]}`;
    t.is((await world.post('/v1/items/check-integrity', text)).status, 200);
  });
  await holds(isAnswered, 40);
  await world.rest();
});

test.serial('an address of any characters signs no one in and causes no failure', async (t) => {
  const email = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('a\0b', '\ud800', '\0'),
  );
  const isRefused = fc.asyncProperty(email, oddText, async (address, workspace) => {
    const who = { email: JSON.stringify(address), workspace_identifier: workspace, api: '"20240226"' };
    const params = await world.post('/v2/login-params', objectText({ ...who, code_challenge: '"c"' }), []);
    // The server asks some of the unknown addresses for a second factor.
    t.true([200, 400, 401].includes(params.status), String(params.status));
    const login = objectText({ ...who, password: '"p"', code_verifier: '"v"' });
    t.true([400, 401, 423].includes((await world.post('/v2/login', login, [])).status));
    const registration = objectText({ ...who, password: '"p"', pw_nonce: '"n"' });
    t.true([200, 400].includes((await world.post('/v1/users', registration, [])).status));
  });
  await holds(isRefused, 30);
  await world.rest();
});

test.serial('the parameters of a registration are given back unchanged or were refused', async (t) => {
  const stored = fc.record({ pw_nonce: storedText, origination: storedText, created: storedText });
  const isKept = fc.asyncProperty(stored, storedText, async (params, password) => {
    const who = { api: '20200115', email: `${marker}-${randomUUID()}@bad.test` };
    const registered = await world.post('/v1/users', { ...who, ...params, password, version: '004' }, []);
    const { status } = registered;
    t.true(status === 200 || status === 400, String(status));
    if (status === 400) return;
    const { session } = dataOf(registered) as { session: { access_token: string } };
    const signedIn: Headers = [['Authorization', `Bearer ${session.access_token}`]];
    const answer = await world.post('/v2/login-params', { ...who, code_challenge: 'c' }, signedIn);
    t.is((dataOf(answer) as { pw_nonce: string }).pw_nonce, params.pw_nonce);
    const target = `/v1/users/${randomUUID()}/attributes/credentials`;
    const change = {
      ...params,
      current_password: password,
      new_password: password,
      new_email: params.created,
    };
    const body = JSON.stringify(change);
    t.true((await world.ask({ method: 'PUT', target, headers: signedIn, body })).status >= 400);
  });
  await holds(isKept, 25);
  await world.rest();
});

/** Including invalid text: JSON can express half of a surrogate pair. */
const storedText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.constantFrom('\0', '\ud800', 'a\udfffb', '\ufeff', '{}', '"\\', 'x'.repeat(256), 'x'.repeat(257)),
);

test.serial('signing out takes any body and ends one session', async (t) => {
  const { sender } = world;
  t.is((await world.post('/v1/logout', '{"uuid":7,"__proto__":{}}', [])).status, 401);
  const leaving = await world.register();
  t.is((await world.post('/v1/logout', `{"uuid":"${randomUUID()}"}`, bearer(leaving))).status, 204);
  t.is((await world.post('/v1/items', {}, bearer(leaving))).status, 401);
  t.is((await world.post('/v1/items', {}, bearer(sender))).status, 200);
});
