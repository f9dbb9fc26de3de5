/** Publishing to a code host over HTTP (docs/protocol/code-host.md): the same contract for each supported host. */
import type { ServerResponse } from 'node:http';
import test from 'ava';
import { cookieSessions } from '../../kit/account.ts';
import { fakeCodeHost, writer } from '../../kit/fake-code-host.ts';
import { codeHostContract, path, publishing } from './contract.ts';

for (const dialect of ['github', 'gitea'] as const)
  codeHostContract(dialect, async () => fakeCodeHost(dialect));

test('a code host that fails leaks nothing of its answer', async (t) => {
  const { publish, state, requests } = await publishing(t, fakeCodeHost('github'));
  const words = 'words of the host';
  const answers: readonly (readonly [string, (response: ServerResponse) => unknown])[] = [
    [
      '502 code-host-error',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(words),
    ],
    ['502 code-host-error', (response) => response.writeHead(500).end(words)],
    ['429 code-host-error', (response) => response.writeHead(429).end(words)],
    ['451 code-host-error', (response) => response.writeHead(451).end(words)],
    ['502 code-host-error', (response) => response.writeHead(423).end(words)],
    ['502 code-host-error', (response) => response.writeHead(498).end(words)],
    ['502 code-host-error', (response) => response.writeHead(200).end(words)],
    ['502 code-host-error', (response) => response.socket?.destroy()],
    ['422 unprocessable', (response) => response.writeHead(200).end(Buffer.alloc(5_000_000, 'x'))],
    ['502 code-host-error', (response) => response.writeHead(200).end(JSON.stringify({ sha: '../../x' }))],
  ];
  for (const [refusal, answer] of answers) {
    state.answer = (response) => {
      answer(response);
      return true;
    };
    const { status, body, text } = await publish();
    t.is(`${status} ${body.error.tag}`, refusal);
    t.false(text.includes(words));
  }
  t.is(requests.length, answers.length);
});

test('a publication that another commit to the branch overtakes is answered as a conflict, and not as forbidden', async (t) => {
  const { refused, state } = await publishing(t, fakeCodeHost('gitea'));
  const at = (digit: string) => digit.repeat(40);
  for (const [message, refusal] of [
    [`cannot lock ref 'refs/heads/main': is at ${at('e')} but expected ${at('b')}`, '409 conflict'],
    ['branch main is protected', '403 forbidden'],
    [undefined, '403 forbidden'],
  ] as const) {
    state.answer = (response, { method }) => {
      if (method === 'GET') return false;
      response.writeHead(403).end(JSON.stringify({ message }));
      return true;
    };
    t.is(await refused(), refusal);
  }
});

test('a host that has had too much says for how long, as it will or for a minute', async (t) => {
  const { publish, state } = await publishing(t, fakeCodeHost('github'));
  for (const [said, passedOn] of [
    [{ 'retry-after': '7' }, '7'],
    [{ 'retry-after': '0' }, '1'],
    [{ 'retry-after': '999999' }, '3600'],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, '60'],
    [{}, '60'],
  ] as const) {
    state.answer = (response) => {
      response.writeHead(429, said).end();
      return true;
    };
    const { status, headers } = await publish();
    t.deepEqual([status, headers.get('retry-after')], [429, passedOn]);
  }
});

test('the bearer alone of a cookie session publishes, small and large; its cookie alone does not', async (t) => {
  const { phone, server, requests } = await publishing(t, fakeCodeHost('github'));
  const web = await phone.another({ api: cookieSessions });
  const { access: bearer, cookie } = web.account;
  for (const content of ['# A note', 'x'.repeat(1_200_000)]) {
    const body = { token: writer, owner: 'o', repo: 'r', path: `${content.length}.md`, content };
    const before = requests.length;
    t.is((await server.call('POST', path, { cookie, body })).status, 401);
    t.is(requests.length, before);
    const published = await server.call('POST', path, { bearer, body });
    t.is(published.status, 200, published.text);
    t.true(published.body.created);
  }
  await phone.call('DELETE', `/v1/sessions/${await web.sessionUuid()}`);
  const body = { token: writer, owner: 'o', repo: 'r', path: 'late.md', content: '' };
  t.is((await server.call('POST', path, { bearer, body })).status, 401, 'after its session');
});

test('a host that hangs is given up on', async (t) => {
  const { state, phone, server } = await publishing(t, fakeCodeHost('gitea'));
  state.answer = () => true;
  const body = { token: writer, owner: 'o', repo: 'r', path: 'note.md', content: '' };
  const { status } = await server.answered(phone.call('POST', path, { body }), 20_000);
  t.is(status, 502);
});

test('links are told only if they are https', async (t) => {
  const { publish, state } = await publishing(t, fakeCodeHost('github'));
  state.answer = (response, { method }) => {
    if (method === 'GET') return false;
    const body = { content: { html_url: 'javascript:alert(1)' }, commit: { html_url: 'http://code.test/' } };
    response.writeHead(201).end(JSON.stringify(body));
    return true;
  };
  t.deepEqual((await publish()).body, { created: true, path: 'note.md' });
});

const wrong: readonly (readonly [string, object])[] = [
  ['400 missing-token', { token: undefined }],
  ['400 missing-token', { token: '  ' }],
  ['400 missing-token', { token: 'two words' }],
  ['400 missing-token', { token: 'line\r\nx-header: y' }],
  ['400 missing-token', { token: 'x'.repeat(513) }],
  ['400 invalid-owner', { owner: '..' }],
  ['400 invalid-owner', { owner: 'o/../../x' }],
  ['400 invalid-owner', { owner: 7 }],
  ['400 invalid-repo', { repo: '.' }],
  ['400 invalid-repo', { repo: 'r?x=y' }],
  ['400 invalid-repo', { repo: 'r%2f..' }],
  ['400 invalid-branch', { branch: 'a\nb' }],
  ['400 invalid-branch', { branch: 'x'.repeat(256) }],
  ['400 invalid-branch', { branch: ['main'] }],
  ['400 invalid-path', { path: '../..\\.' }],
  ['400 invalid-path', { path: 'a\u0000b' }],
  ['400 invalid-path', { path: 'x'.repeat(1_025) }],
  ['400 content-too-large', { content: 'é'.repeat(1_048_577) }],
  ['400 invalid-request', { content: 7 }],
  ['400 invalid-request', { message: 'x'.repeat(1_001) }],
];

test('an incomplete publication is refused by the name of its field, and the host is not asked', async (t) => {
  const { refused, requests } = await publishing(t, fakeCodeHost('github'));
  for (const [refusal, fields] of wrong)
    t.is(await refused(fields), refusal, JSON.stringify(fields).slice(0, 80));
  t.is(requests.length, 0);
});

test('a user publishes ten times in a minute, however many ask at once, and others as often', async (t) => {
  const { server, phone, requests } = await publishing(t, fakeCodeHost('github'));
  const bob = await server.device('bob@example.org');
  const body = { token: 'wrong', owner: 'o', repo: 'r', path: 'note.md' };
  const publish = (by = phone) => server.answered(by.call('POST', path, { body }));
  const all = await Promise.all(Array.from({ length: 15 }, () => publish()));
  t.is(all.filter(({ status }) => status === 429).length, 5);
  t.is(requests.length, 10);
  const { headers } = await publish();
  t.true(Number(headers.get('retry-after')) > 50);
  t.is((await publish(bob)).status, 403);
  await server.advance(61_000);
  t.is((await publish()).status, 403);
  t.is((await server.call('POST', path, { body })).status, 401);
});
