/** Requests of client panes for features that this server does not have. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { startServer } from '../../kit/server.ts';

const admin = 'admin@example.org';

test('a pane of a feature that is not there finds nothing when it opens, and no error', async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([admin]) } });
  const device = await server.device(admin);
  for (const [path, body] of [
    ['/v1/webhooks', { webhooks: [] }],
    ['/v1/admin/roles', { roleNames: [] }],
    ['/v1/admin/groups', { groups: [] }],
    [`/v1/admin/groups/${crypto.randomUUID()}/members`, { members: [] }],
    [`/v1/admin/users/${device.account.userUuid}/effective-permissions`, { permissions: [] }],
    ['/v1/assistant/transcription/models', { models: [] }],
    ['/v1/ocr/config', { enabled: false }],
    ['/v2/subscriptions', {}],
  ] as const) {
    const answer = await device.call('GET', path);
    t.deepEqual([answer.status, answer.body], [200, body], path);
  }
  t.is((await server.call('GET', '/v1/webhooks')).status, 401);
  t.is((await server.call('GET', '/v1/assistant/transcription/models')).status, 200);
});

test('a request that acts on an absent feature is refused in words', async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([admin]) } });
  const device = await server.device(admin);
  for (const row of [
    ...['POST /v1/webhooks', 'PATCH /v1/webhooks/7', 'DELETE /v1/webhooks/7', 'GET /v1/webhooks/7'],
    ...['POST /v1/admin/groups', 'DELETE /v1/admin/groups/7', 'POST /v1/admin/groups/7/members'],
    ...['POST /v1/web/search', 'POST /v1/web/fetch', 'POST /v1/collaboration/authorize'],
  ]) {
    const [method = '', path = ''] = row.split(' ');
    const { status, body } = await device.call(method, path);
    t.deepEqual([status, body.error.tag], [404, 'not-offered'], row);
    t.regex(body.error.message, /does not offer/, row);
  }
});

test('the documents list every path that is known and not offered', async (t) => {
  const server = await startServer(t);
  const { paths } = JSON.parse((await server.call('GET', '/v1/openapi.json')).text);
  const document = readFileSync(new URL('../../../docs/protocol/not-offered.md', import.meta.url), 'utf8');
  const documented = [...document.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[\w/.:-]*)`/g)].map(
    ([, row]) => row,
  );
  type Operations = Readonly<Record<string, { readonly tags: readonly string[] }>>;
  const served = Object.entries<Operations>(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { tags }]) => tags.includes('Known and not offered'))
      .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  t.deepEqual(documented.toSorted(), served.toSorted());
});
