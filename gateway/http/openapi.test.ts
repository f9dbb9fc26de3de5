import test from 'ava';
import { z } from 'zod';
import { openApiDocument } from './openapi.ts';
import { type AnyRoute, route } from './route.ts';

const update: AnyRoute = route({
  method: 'PUT',
  path: '/v1/users/:userUuid/settings',
  access: 'session',
  summary: 'Saves a setting.',
  tag: 'Users',
  headers: ['x-server-password'],
  request: z.object({ userUuid: z.uuid(), name: z.string().max(255), value: z.string().nullish() }),
  replies: { 200: z.object({ success: z.boolean() }), 204: z.object({}), 400: z.object({}) },
  handle: async () => ({ status: 204 }),
});
const params: AnyRoute = route({
  method: 'GET',
  path: '/v1/login-params',
  access: 'optional-session',
  summary: 'Key params.',
  tag: 'Sessions',
  request: z.object({ email: z.string(), api: z.string().optional() }),
  replies: { 200: z.object({}) },
  handle: async () => ({ status: 200, body: {} }),
});

const plain: AnyRoute = route({
  method: 'GET',
  path: '/plain',
  access: 'public',
  summary: 'A text.',
  tag: 'Health',
  enveloped: false,
  request: z.object({}),
  replies: { 200: z.literal('OK') },
  handle: async () => ({ status: 200, contentType: 'text/plain', body: 'OK' }),
});

const upload: AnyRoute = route({
  method: 'POST',
  path: '/files/:name',
  access: 'public',
  summary: 'Takes a file.',
  tag: 'Files',
  body: 'stream',
  request: z.object({ name: z.string(), part: z.string().optional() }),
  replies: { 206: { mediaType: 'application/octet-stream' }, 400: { mediaType: 'text/plain' } },
  handle: async () => ({ status: 206 }),
});

const report: AnyRoute = route({
  ...upload,
  method: 'REPORT',
  path: '/dav',
  summary: 'Lists what matches.',
  body: 'bytes',
  bodyType: 'application/xml',
  request: z.object({}),
  replies: { 207: { mediaType: 'application/xml' } },
  handle: async () => ({ status: 207 }),
});

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
const document = (await openApiDocument([update, params, plain, upload, report], '1.2.3')) as any;

test('the loop turns while many routes are described', async (t) => {
  let turned = false;
  setImmediate(() => setImmediate(() => (turned = true)));
  await openApiDocument(Array(30).fill(plain), '1.2.3');
  t.true(turned);
});

test('every route is an operation with its parameters, body and answers', (t) => {
  const operation = document.paths['/v1/users/{userUuid}/settings'].put;
  t.is(document.openapi, '3.1.0');
  t.is(document.info.version, '1.2.3');
  t.is(operation.summary, 'Saves a setting.');
  t.deepEqual(
    operation.parameters.map(({ name, in: location }: { name: string; in: string }) => [name, location]),
    [
      ['userUuid', 'path'],
      ['x-server-password', 'header'],
    ],
  );
  const body = operation.requestBody.content['application/json'].schema;
  t.deepEqual(body.required, ['name']);
  t.deepEqual(Object.keys(body.properties), ['name', 'value']);
  t.is(body.properties.name.maxLength, 255);
  const answer = operation.responses['200'].content['application/json'].schema;
  t.is(answer.properties.data.properties.success.type, 'boolean');
  t.is(answer.properties.meta.$ref, '#/components/schemas/Meta');
  t.true(operation.requestBody.required);
  t.is(operation.responses['204'].content, undefined);
  t.truthy(operation.responses.default);
});

test('a GET takes its fields from the query, and an optional session is optional', (t) => {
  const operation = document.paths['/v1/login-params'].get;
  t.is(operation.requestBody, undefined);
  t.like(operation.parameters[0], { name: 'email', in: 'query', required: true });
  t.like(operation.parameters[1], { name: 'api', in: 'query', required: false });
  t.deepEqual(operation.security, [{ session: [] }, {}]);
});

test('errors come in the envelope or bare, and a session can be missing or expired', (t) => {
  const { responses } = document.paths['/v1/users/{userUuid}/settings'].put;
  for (const status of ['401', '498', '400', 'default']) {
    t.deepEqual(responses[status].content['application/json'].schema.anyOf, [
      { $ref: '#/components/schemas/EnvelopedError' },
      { $ref: '#/components/schemas/Error' },
    ]);
  }
  t.is(document.paths['/v1/login-params'].get.responses['498'], undefined);
  t.deepEqual(document.components.schemas.EnvelopedError.required, ['meta', 'data']);
});

test('a body that is not JSON is described as text', (t) => {
  t.deepEqual(Object.keys(document.paths['/plain'].get.responses['200'].content), ['text/*']);
});

test('bodies and answers that are bytes have a media type and no schema, and other fields stand in the query', (t) => {
  const operation = document.paths['/files/{name}'].post;
  t.deepEqual(operation.requestBody, { content: { 'application/octet-stream': {} } });
  t.deepEqual(operation.responses['206'].content, { 'application/octet-stream': {} });
  t.deepEqual(operation.responses['400'].content, { 'text/plain': {} });
  t.deepEqual(
    operation.parameters.map(({ name, in: location }: { name: string; in: string }) => [name, location]),
    [
      ['name', 'path'],
      ['part', 'query'],
    ],
  );
});

test('a method that a description cannot name stands among the additional operations', (t) => {
  const { REPORT: operation } = document.paths['/dav']['x-additionalOperations'];
  t.is(operation.operationId, 'report_dav');
  t.deepEqual(operation.requestBody.content, { 'application/xml': {} });
  t.deepEqual(operation.responses['207'].content, { 'application/xml': {} });
});

test('the description is plain JSON with unique operation ids', (t) => {
  t.deepEqual(JSON.parse(JSON.stringify(document)), document);
  const ids = [...JSON.stringify(document).matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
  t.is(new Set(ids).size, 5);
  t.is(ids.length, 5);
});
