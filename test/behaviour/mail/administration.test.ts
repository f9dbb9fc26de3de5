import test, { type ExecutionContext } from 'ava';
import { Mailer, mailerId } from '../../../actors/mailer/contract.ts';
import type { SendResult } from '../../../actors/mailer/sender.ts';
import { UnavailableError } from '../../../runtime/errors.ts';
import { alice } from '../../kit/account.ts';
import { bobsText, sealedMail } from '../../kit/mail.ts';
import { Postbox } from '../../kit/postbox.ts';
import { type ServerOptions, startServer } from '../../kit/server.ts';

const base = '/v1/admin/email-delivery';
const direct = { host: '127.0.0.1', from: { name: 'Notes', address: 'notes@home.test' } };

async function start(t: ExecutionContext, options: ServerOptions = {}) {
  const postbox = new Postbox();
  const accounts = { adminEmails: new Set([alice.email]) };
  const server = await startServer(t, { accounts, mail: direct, mailSender: postbox, ...options });
  const admin = await server.device();
  const call = (method: string, path: string, body?: object) =>
    server.answered(admin.call(method, `${base}${path}`, body === undefined ? {} : { body }));
  return {
    server,
    postbox,
    admin,
    call,
    audited: async (): Promise<readonly Record<'id' | 'operation' | 'target' | 'at', string>[]> =>
      (await call('GET', '/audit')).body.entries,
    async queue(id: string, source: Parameters<typeof sealedMail>[1] = 'other') {
      const pending = server.host.actors.get(Mailer, mailerId).ask.queue(sealedMail(id, source));
      await server.answered(pending);
      await server.advance(1_000);
    },
  };
}

const smtp = {
  id: 'one',
  kind: 'smtp',
  name: 'The first',
  from: 'Notes <notes@home.test>',
  host: 'mail.example.test',
  username: 'server',
  credentials: { password: 'a secret word' },
};
const policy = { fallbackPolicy: { mode: 'next-enabled' } };
const tagOf = ({ status, body }: { status: number; body: { error?: { tag?: string } } }) =>
  `${status} ${body?.error?.tag}`;

const rows = [
  ['GET', '/relays'],
  ['PUT', '/relays'],
  ['POST', '/test'],
  ['GET', '/queue'],
  ['GET', '/logs'],
  ['GET', '/audit'],
  ['POST', '/queue/one/retry'],
  ['DELETE', '/queue/one'],
] as const;

test('only administrators are answered, before anything they sent is looked at', async (t) => {
  const { server } = await start(t);
  const user = await server.device('bob@example.org');
  for (const [method, path] of rows) {
    for (const each of [path, `${path}/`]) {
      const answer = await user.call(method, `${base}${each}`, method === 'GET' ? {} : { body: {} });
      t.is(tagOf(answer), '403 admin-required', `${method} ${each}`);
      t.is(answer.meta, undefined);
      t.is((await server.call(method, `${base}${each}`)).status, 401);
    }
  }
});

test('a read-only administrator changes nothing', async (t) => {
  const { server, call } = await start(t);
  const accounts = { adminEmails: new Set([alice.email]), readonlyUsers: new Set([alice.email]) };
  await server.restart({ accounts });
  for (const [method, path] of rows) {
    const answer = await call(method, path, method === 'GET' ? undefined : {});
    if (method === 'GET') t.not(answer.status, 403);
    else t.is(tagOf(answer), '403 read-only-access', `${method} ${path}`);
  }
});

test('where the settings alone decide, only the test and the audit of it are served', async (t) => {
  const { call, postbox } = await start(t, { mail: { ...direct, mode: 'direct' } });
  for (const [method, path] of rows.filter(([, each]) => !['/test', '/audit'].includes(each))) {
    const answer = await call(method, path, method === 'GET' ? undefined : {});
    t.is(tagOf(answer), '501 email-delivery-not-available', `${method} ${path}`);
  }
  const answer = await call('POST', '/test', { recipient: 'bob@example.test' });
  t.deepEqual(answer.body, { accepted: true, relay: { id: 'direct', kind: 'smtp' }, outcome: 'sent' });
  t.is(postbox.messages.length, 1);
  t.like((await call('GET', '/audit')).body.entries, [{ operation: 'test', target: 'direct' }]);
});

test('while the mailer cannot be reached an administrator is told when to ask again', async (t) => {
  const { call, server } = await start(t);
  const ask = server.transport.ask.bind(server.transport);
  server.transport.ask = (request) =>
    request.command === 'listRelays' ? Promise.reject(new UnavailableError('away')) : ask(request);
  const answer = await call('GET', '/relays');
  t.is(tagOf(answer), '503 email-delivery-unavailable');
  t.is(answer.headers.get('retry-after'), '5');
});

test('relays are listed in their order and without credentials, and replaced as a whole', async (t) => {
  const { call, server } = await start(t);
  t.deepEqual((await call('GET', '/relays')).body, { relays: [], ...policy, configured: true });
  const hosted = { id: 'two', kind: 'mailgun', from: 'notes@home.test', domain: 'home.test' };
  const put = await call('PUT', '/relays', { relays: [smtp, hosted], fallbackPolicy: { mode: 'none' } });
  t.is(put.status, 200);
  t.deepEqual(put.body, {
    relays: [
      {
        id: 'one',
        kind: 'smtp',
        name: 'The first',
        enabled: true,
        priority: 0,
        from: '"Notes" <notes@home.test>',
        rateLimit: { perMinute: null, perDay: null },
        host: 'mail.example.test',
        port: 587,
        security: 'starttls',
        username: 'server',
        plaintextCredentials: false,
        credentialsConfigured: true,
      },
      {
        id: 'two',
        kind: 'mailgun',
        name: '',
        enabled: true,
        priority: 1,
        from: 'notes@home.test',
        rateLimit: { perMinute: null, perDay: null },
        domain: 'home.test',
        region: 'us',
        credentialsConfigured: false,
      },
    ],
    fallbackPolicy: { mode: 'none' },
    configured: true,
  });
  await server.restart();
  const got = await call('GET', '/relays');
  t.deepEqual(got.body, put.body);
  t.notRegex(got.text, /secret/);
  const fewer = await call('PUT', '/relays', { relays: [{ ...hosted, id: undefined }], ...policy });
  t.is(fewer.body.relays.length, 1);
  t.regex(fewer.body.relays[0].id, /^relay-[0-9a-f]{8}$/);
  t.false(fewer.body.configured);
});

test('a credential that is left out is kept wherever the relay goes, and the audit tells where it went', async (t) => {
  const { call, postbox, audited } = await start(t);
  const { credentials: _, ...withoutCredentials } = smtp;
  const put = (relay: object) => call('PUT', '/relays', { relays: [relay], ...policy });
  t.is((await put(smtp)).status, 200);
  const credentials: (string | undefined)[] = [];
  postbox.answer = ({ credential }) => {
    credentials.push(credential);
    return undefined;
  };
  for (const change of [
    { host: 'mail.elsewhere.test' },
    { port: 2525 },
    { security: 'implicit' },
    { username: 'another' },
    { username: null },
    { name: 'another name' },
  ]) {
    const changed = await put({ ...withoutCredentials, ...change });
    t.like(changed.body.relays[0], { ...change, credentialsConfigured: true });
    t.is((await put(withoutCredentials)).status, 200);
  }
  const moves = (await audited()).filter(({ operation }) => operation === 'move-credentials');
  t.deepEqual(new Set(moves.map(({ target }) => target)), new Set(['one']));
  t.is(moves.length, 10);
  t.is(tagOf(await put({ ...withoutCredentials, kind: 'sendgrid' })), '400 invalid-relay-kind');
  await call('POST', '/test', { recipient: 'bob@example.test' });
  t.true(
    (await put({ ...withoutCredentials, host: 'new.test', credentials: { password: 'new' } })).body
      .configured,
  );
  await call('POST', '/test', { recipient: 'bob@example.test' });
  t.deepEqual(credentials, ['a secret word', 'new']);
  t.false((await put({ ...withoutCredentials, host: 'other.test', credentials: null })).body.configured);
  t.is(tagOf(await call('POST', '/test', { recipient: 'a@b.test' })), '409 email-delivery-not-configured');
});

test('a credential is cleared by null, in its own place too', async (t) => {
  const { call } = await start(t);
  const hosted = { id: 'two', kind: 'postmark', from: 'notes@home.test', credentials: { apiKey: 'k' } };
  const configured = async (...relays: readonly object[]) => {
    const { body } = await call('PUT', '/relays', { relays, ...policy });
    return body.relays.map((relay: { credentialsConfigured: boolean }) => relay.credentialsConfigured);
  };
  t.deepEqual(await configured(smtp, hosted), [true, true]);
  const cleared = { ...hosted, credentials: { apiKey: null } };
  t.deepEqual(await configured({ ...smtp, credentials: { password: null } }, cleared), [false, false]);
});

const wrongRelays: readonly (readonly [string, object])[] = [
  ['400 invalid-relay-kind', { ...smtp, kind: 'fax' }],
  ['400 invalid-relay', { ...smtp, id: 'Not-An-Id' }],
  ['400 invalid-relay', { ...smtp, id: 'direct' }],
  ['400 invalid-relay', { ...smtp, host: undefined }],
  ['400 invalid-relay', { ...smtp, host: 'mail.test\r\nRCPT' }],
  ['400 invalid-relay', { ...smtp, port: 0 }],
  // The password in plain text.
  ['400 invalid-relay', { ...smtp, security: 'none' }],
  ['400 invalid-relay', { ...smtp, security: 'none', plaintextCredentials: 'yes' }],
  ['400 invalid-relay', { ...smtp, from: 'a@home.test, b@home.test' }],
  ['400 invalid-relay', { ...smtp, from: 'a@home.test\r\nBcc: b@home.test' }],
  ['400 invalid-relay', { ...smtp, rateLimit: { perMinute: 0 } }],
  ['400 invalid-relay', { ...smtp, credentials: { apiKey: 'x' } }],
  ['400 invalid-relay', { ...smtp, kind: 'mailgun', domain: '../x' }],
  // Names instead of addresses, so the server looks them up.
  ['400 invalid-relay', { ...smtp, host: '127.999.1.1', security: 'none' }],
  ['400 invalid-relay', { ...smtp, host: '127.0.0.01', security: 'none' }],
  // Pasted with the end of its line.
  [
    '400 invalid-relay',
    { id: 'two', kind: 'postmark', from: 'a@home.test', credentials: { apiKey: 'key\n' } },
  ],
];

test('a list with something that is not valid changes nothing', async (t) => {
  const { call } = await start(t);
  await call('PUT', '/relays', { relays: [smtp], ...policy });
  const before = (await call('GET', '/relays')).body;
  for (const [answer, relay] of wrongRelays) {
    t.is(tagOf(await call('PUT', '/relays', { relays: [{ ...smtp, id: 'ok' }, relay], ...policy })), answer);
  }
  t.is(tagOf(await call('PUT', '/relays', { relays: [smtp, smtp], ...policy })), '400 invalid-relay');
  t.is(tagOf(await call('PUT', '/relays', { relays: Array(21).fill({}), ...policy })), '400 invalid-relay');
  t.is(tagOf(await call('PUT', '/relays', { relays: 'none', ...policy })), '400 invalid-relay');
  t.regex((await call('PUT', '/relays', policy)).body.error.message, /are a list/);
  t.is(tagOf(await call('PUT', '/relays', { relays: [] })), '400 invalid-fallback-policy');
  t.deepEqual((await call('GET', '/relays')).body, before);
});

test('a test says a class and nothing else, to one address, and few times a minute', async (t) => {
  const { call, postbox, server } = await start(t);
  const to = { recipient: 'bob@example.test' };
  for (const recipient of [undefined, 'nobody', 'a@x.test, b@x.test', 'a@x.test\r\nb', 7]) {
    t.is(tagOf(await call('POST', '/test', { recipient })), '400 invalid-recipient', String(recipient));
  }
  t.is(tagOf(await call('POST', '/test', { ...to, relayId: 'none' })), '404 relay-not-found');
  const results: readonly (readonly [SendResult, string])[] = [
    [{ result: 'sent' }, 'sent'],
    [{ result: 'rejected', failure: 'rejected' }, 'rejected'],
    [{ result: 'transient', failure: 'provider' }, 'transient-failure'],
    [{ result: 'unable', failure: 'connection' }, 'transient-failure'],
    [{ result: 'unable', failure: 'authentication' }, 'permanent-failure'],
    [{ result: 'unable', failure: 'rate-limited' }, 'rate-limited'],
  ];
  for (const [result, outcome] of results) {
    postbox.answer = () => result;
    const { status, body } = await call('POST', '/test', { ...to, relayId: '' });
    t.is(status, 200);
    const relay = { id: 'direct', kind: 'smtp' };
    t.deepEqual(body, { accepted: outcome === 'sent', relay, outcome });
  }
  for (let more = results.length; more < 10; more += 1) await call('POST', '/test', to);
  const refused = await call('POST', '/test', to);
  t.is(tagOf(refused), '429 too-many-tests');
  t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/);
  await server.advance(61_000);
  t.is((await call('POST', '/test', to)).status, 200);
});

test('an administrator sees what became of each mail, and never what it says', async (t) => {
  const { call, postbox, queue, server } = await start(t);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await queue('waiting', 'dead-man-switch');
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  await queue('dead', 'invite');
  postbox.answer = () => undefined;
  await queue('sent');
  const ready = await call('GET', '/queue?state=ready');
  const dead = await call('GET', '/queue?state=dead');
  t.like(ready.body.records, [
    {
      id: 'waiting',
      state: 'ready',
      source: 'dead-man-switch',
      attempts: 1,
      maxAttempts: null,
      leaseExpiresAt: null,
      lastFailure: 'provider',
    },
  ]);
  t.true(Date.parse(ready.body.records[0].nextAttemptAt) > server.clock.nowMs());
  t.like(dead.body.records, [{ id: 'dead', state: 'dead', source: 'other', attempts: 1, maxAttempts: 6 }]);
  t.deepEqual((await call('GET', '/queue?state=leased')).body, { records: [], nextCursor: null });
  const logs = await call('GET', '/logs');
  t.deepEqual(
    logs.body.entries.map(
      ({ queueId, outcome }: { queueId: string; outcome: string }) => `${queueId} ${outcome}`,
    ),
    ['sent sent', 'dead rejected', 'waiting transient-failure'],
  );
  for (const answer of [ready, dead, logs]) t.notRegex(answer.text, /bob|secret|Only|text that/i);
  const only = await call('GET', '/logs?outcome=rejected&relayId=direct');
  t.is(only.body.entries.length, 1);
  t.is((await call('GET', '/logs?relayId=none')).body.entries.length, 0);
  const all = (await call('GET', '/logs')).body;
  t.deepEqual((await call('GET', '/logs?outcome=&relayId=&limit=&cursor=')).body, all);
});

test('queue and log come in pages, and a wrong question is refused', async (t) => {
  const { call, postbox, queue } = await start(t);
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  for (let number = 0; number < 5; number += 1) await queue(`mail-${number}`);
  for (const [path, list] of [
    ['/queue?state=dead&limit=2', 'records'],
    ['/logs?limit=2', 'entries'],
  ] as const) {
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null && page < 9; page += 1) {
      const { body }: { body: Record<string, { id: string }[]> & { nextCursor: string | null } } = await call(
        'GET',
        `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...(body[list] ?? []).map(({ id }) => id));
      cursor = body.nextCursor;
    }
    t.is(seen.length, 5, path);
    t.is(new Set(seen).size, 5, path);
  }
  t.is(tagOf(await call('GET', '/queue')), '400 invalid-queue-state');
  t.is(tagOf(await call('GET', '/queue?state=gone')), '400 invalid-queue-state');
  t.is(tagOf(await call('GET', '/queue?state=dead&limit=201')), '400 invalid-limit');
  t.is(tagOf(await call('GET', '/queue?state=dead&cursor=zzz')), '400 invalid-cursor');
  t.is(tagOf(await call('GET', '/logs?cursor=zzz')), '400 invalid-cursor');
  t.is(tagOf(await call('GET', '/logs?outcome=lost')), '400 invalid-outcome');
});

test('a dead mail and a waiting one are tried again; what is sent, being sent or too late is not', async (t) => {
  const { call, postbox, queue, server } = await start(t);
  const retry = (id: string) => call('POST', `/queue/${id}/retry`, {});
  t.is(tagOf(await retry('none')), '404 queue-record-not-found');
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  await queue('dead');
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await queue('waiting');
  await queue('code', 'magic-link');
  await server.advance(11 * 60_000);
  t.is(tagOf(await retry('code')), '409 queue-record-ineligible');
  postbox.answer = () => new Promise(() => {});
  await queue('leased');
  t.is(tagOf(await retry('leased')), '409 queue-record-leased');
  t.is(tagOf(await call('DELETE', '/queue/leased')), '409 queue-record-leased');
  postbox.answer = () => undefined;
  for (const id of ['dead', 'waiting']) {
    const { status, body } = await retry(id);
    t.is(status, 202);
    t.like(body.record, { id, state: 'ready', attempts: 0 });
    await server.advance(2_000);
    t.is(tagOf(await retry(id)), '404 queue-record-not-found');
  }
  t.deepEqual(
    postbox.messages.map(({ text }) => text),
    [bobsText, bobsText],
  );
});

test('a mail that was thrown away is not sent any more', async (t) => {
  const { call, postbox, queue, server } = await start(t);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await queue('one', 'dead-man-switch');
  const answer = await call('DELETE', '/queue/one');
  t.is(answer.status, 204);
  t.is(answer.text, '');
  t.is(tagOf(await call('DELETE', '/queue/one')), '404 queue-record-not-found');
  postbox.answer = () => undefined;
  await server.advance(600_000);
  await queue('one', 'dead-man-switch');
  t.deepEqual(postbox.messages, []);
});

test('a relay without TLS is listed where the list says so, and gets a password only if it says that too', async (t) => {
  const { call } = await start(t);
  const plain = { ...smtp, security: 'none' };
  for (const relay of [
    { ...plain, username: null, credentials: null },
    { ...plain, plaintextCredentials: true },
    { ...plain, host: '127.0.0.1' },
  ]) {
    const answer = await call('PUT', '/relays', { relays: [relay], ...policy });
    t.is(answer.status, 200, answer.text);
    t.is(answer.body.relays[0].security, 'none');
  }
});

test('without fallback mail waits for the first relay, also while that is at its rate', async (t) => {
  const { call, queue, postbox, server } = await start(t);
  const requests: string[] = [];
  postbox.answer = ({ relay }) => {
    requests.push(relay.id);
    return undefined;
  };
  const relays = [
    { ...smtp, rateLimit: { perMinute: 1 } },
    { ...smtp, id: 'two' },
  ];
  await call('PUT', '/relays', { relays, fallbackPolicy: { mode: 'none' } });
  for (const id of ['first', 'second']) await queue(id);
  t.deepEqual(requests, ['one']);
  await server.advance(60_000);
  t.deepEqual(requests, ['one', 'one']);
});

test('a mail goes to the next relay where the first cannot send it, if that is the policy', async (t) => {
  const { call, postbox, queue, server } = await start(t);
  const second = { ...smtp, id: 'two', host: 'two.example.test' };
  const requests: string[] = [];
  postbox.answer = ({ relay }) => {
    requests.push(relay.id);
    return relay.id === 'one' ? { result: 'transient', failure: 'provider' } : undefined;
  };
  const relays = [{ ...smtp, enabled: false, id: 'off' }, smtp, second];
  await call('PUT', '/relays', { relays, fallbackPolicy: { mode: 'none' } });
  await queue('first');
  t.deepEqual(requests, ['one']);
  await call('PUT', '/relays', { relays, ...policy });
  await queue('second');
  t.deepEqual(requests, ['one', 'one', 'two']);
  await server.advance(120_000);
  t.is(postbox.messages.length, 2);
});

test('a relay is given no more mails in a minute and in a day than it takes', async (t) => {
  const { call, postbox, queue, server } = await start(t);
  const sentAtMs: number[] = [];
  postbox.answer = () => {
    sentAtMs.push(server.clock.nowMs());
    return undefined;
  };
  const limited = { ...smtp, rateLimit: { perMinute: 3, perDay: 8 } };
  await call('PUT', '/relays', { relays: [limited], ...policy });
  for (let number = 0; number < 10; number += 1) await queue(`mail-${number}`, 'dead-man-switch');
  await server.advance(10 * 60_000);
  t.is(sentAtMs.length, 8);
  const minutes = sentAtMs.map((atMs) => Math.floor(atMs / 60_000));
  t.true(minutes.every((minute) => minutes.filter((each) => each === minute).length <= 3));
  await server.advance(86_400_000);
  t.is(sentAtMs.length, 10);
  t.is((await call('GET', '/queue?state=dead')).body.records.length, 0);
});

test('administrators see what administrators did: the actor, the action, its target and time, and nothing else', async (t) => {
  const { call, postbox, queue, server, admin, audited } = await start(t);
  await call('PUT', '/relays', { relays: [smtp], ...policy });
  await call('POST', '/test', { recipient: 'carol@secret.test' });
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  await queue('dead');
  for (const refused of ['none', 'gone']) await call('DELETE', `/queue/${refused}`);
  t.is((await call('POST', '/queue/dead/retry', {})).status, 202);
  await server.advance(1_000);
  t.is((await call('DELETE', '/queue/dead')).status, 204);
  const done = [
    ['discard', 'dead'],
    ['retry', 'dead'],
    ['test', 'one'],
    ['replace-relays', ''],
  ];
  const entries = await audited();
  t.deepEqual(
    entries,
    done.map(([operation, target], index) => ({
      id: String(4 - index),
      actor: admin.account.userUuid,
      operation,
      target,
      at: entries[index]?.at,
    })),
  );
  for (const { at } of entries) t.is(new Date(at).toISOString(), at);
});

test('the audit is paged, and a cursor of another list is refused', async (t) => {
  const { call } = await start(t);
  for (let time = 0; time < 3; time += 1) await call('PUT', '/relays', { relays: [], ...policy });
  const first = (await call('GET', '/audit?limit=2')).body;
  t.deepEqual(
    first.entries.map(({ id }: { id: string }) => id),
    ['3', '2'],
  );
  const rest = (await call('GET', `/audit?limit=2&cursor=${first.nextCursor}`)).body;
  t.like(rest, { entries: [{ id: '1' }], nextCursor: null });
  t.is(rest.entries.length, 1);
  t.is(tagOf(await call('GET', `/logs?cursor=${first.nextCursor}`)), '400 invalid-cursor');
  t.is(tagOf(await call('GET', '/audit?limit=201')), '400 invalid-limit');
});
