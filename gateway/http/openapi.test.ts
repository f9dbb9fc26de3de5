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

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
const document = openApiDocument([update, params, plain], '1.2.3') as any;

test('every route is an operation with its parameters, body and answers', (t) => {
  const operation = document.paths['/v1/users/{userUuid}/settings'].put;
  t.is(document.openapi, '3.1.0');
  t.is(document.info.version, '1.2.3');
  t.is(operation.summary, 'Saves a setting.');
  t.deepEqual(
    operation.parameters.map(({ name, in: place }: { name: string; in: string }) => [name, place]),
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

test('what is no JSON is a text', (t) => {
  t.deepEqual(Object.keys(document.paths['/plain'].get.responses['200'].content), ['text/*']);
});

test('the description is plain JSON with unique operation ids', (t) => {
  t.deepEqual(JSON.parse(JSON.stringify(document)), document);
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
  );
  t.is(new Set(ids).size, 3);
});
