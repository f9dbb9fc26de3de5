/** The OpenAPI 3.1 description of the HTTP interface, generated from the route declarations alone. */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { AnyRoute, MediaBody, Method } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

/** Describing all routes at once would block the event loop for tens of milliseconds. */
const routesInOneGo = 10;

/** `version` is the server's. The result is plain JSON. */
export async function openApiDocument(routes: readonly AnyRoute[], version: string): Promise<Json> {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [at, route] of routes.entries()) {
    if (at % routesInOneGo === 0) await setImmediate();
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = withOperation(paths[path] ?? {}, route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Scriptorium', version, description },
    paths,
    components: {
      securitySchemes: { session: { type: 'http', scheme: 'bearer', description: sessionDescription } },
      schemas: { Error: errorSchema, EnvelopedError: enveloped(ref('Error')), Meta: metaSchema },
    },
  };
}

/** The methods that this version of OpenAPI can name. The others use the field of its next version. */
const plainMethods = new Set<Method>(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function withOperation(path: Record<string, Json>, route: AnyRoute): Record<string, Json> {
  if (plainMethods.has(route.method)) return { ...path, [route.method.toLowerCase()]: operation(route) };
  return {
    ...path,
    'x-additionalOperations': { ...path['x-additionalOperations'], [route.method]: operation(route) },
  };
}

const description =
  'A server for end-to-end encrypted notes. A request says its API version in the field `api`, in the query or ' +
  'the body; `api_version` and `apiVersion` are other names of it. A trailing slash is tolerated.';
const sessionDescription =
  'An access token. One that begins with `2:` counts only together with the cookie `access_token_<session uuid>`.';

const ref = (schema: string): Json => ({ $ref: `#/components/schemas/${schema}` });

function enveloped(data: Json): Json {
  return { type: 'object', required: ['meta', 'data'], properties: { meta: ref('Meta'), data } };
}

const errorSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message'],
      properties: { message: { type: 'string' }, tag: { type: 'string' }, payload: { type: 'object' } },
    },
  },
};

const metaSchema: Json = {
  type: 'object',
  required: ['auth', 'server'],
  properties: {
    auth: {
      type: 'object',
      properties: {
        userUuid: { type: 'string' },
        roles: {
          type: 'array',
          items: { type: 'object', properties: { uuid: { type: 'string' }, name: { type: 'string' } } },
        },
      },
    },
    server: { type: 'object', properties: { filesServerUrl: { type: 'string' } } },
  },
};

function operation(route: AnyRoute): Json {
  const request = schemaOf(route.request, 'input');
  const fields = isRecord(request['properties']) ? request['properties'] : {};
  const required = Array.isArray(request['required']) ? (request['required'] as readonly string[]) : [];
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const others = Object.entries(fields).filter(([name]) => !inPath.includes(name));
  const takesJson = route.method !== 'GET' && route.method !== 'HEAD' && (route.body ?? 'json') === 'json';
  const parameters = [
    ...inPath.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: fields[name] ?? { type: 'string' },
    })),
    ...(takesJson ? [] : others).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema,
    })),
    ...(route.headers ?? []).map((name) => ({ name, in: 'header', schema: { type: 'string' } })),
  ];
  const json = {
    type: 'object',
    properties: Object.fromEntries(others),
    required: required.filter((name) => !inPath.includes(name)),
  };
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^A-Za-z0-9]+/g, '_')}`,
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(takesJson &&
      others.length > 0 && {
        requestBody: { required: json.required.length > 0, content: jsonContent(json) },
      }),
    ...(isRaw(route) && { requestBody: { content: rawContent(route.bodyType) } }),
    responses: responses(route),
    ...(route.access !== 'public' && { security: security(route) }),
  };
}

/** An empty requirement makes the other one optional. */
const security = (route: AnyRoute) =>
  route.access === 'session' ? [{ session: [] }] : [{ session: [] }, {}];

/**
 * The answers of every route with a session, in addition to its own. The gateway or its session check gives these.
 */
const sessionRefusals: Json = {
  401: errorAnswer('There is no living session; the tag says whether it was revoked.'),
  498: errorAnswer('The access token has expired: refresh the session and ask again.'),
};

function responses(route: AnyRoute): Json {
  const declared = Object.entries(route.replies).map(([status, schema]) => {
    if (status === '204') return [status, { description: 'Done; there is no body.' }];
    if (route.enveloped !== false && Number(status) >= 400 && !isMedia(schema))
      return [status, errorAnswer('Refused.')];
    return [status, { description: 'The answer.', content: answerContent(route, schema) }];
  });
  return {
    ...(route.access === 'session' && sessionRefusals),
    ...Object.fromEntries(declared),
    default: errorAnswer('Refused, or failed.'),
  };
}

function errorAnswer(what: string): Json {
  return {
    description: `${what} In the envelope unless the gateway itself refused.`,
    content: jsonContent({ anyOf: [ref('EnvelopedError'), ref('Error')] }),
  };
}

/** Anything but JSON is declared as a text and never enveloped. */
function answerContent(route: AnyRoute, schema: z.ZodType | MediaBody): Json {
  if (isMedia(schema)) return rawContent(schema.mediaType);
  const inner = schemaOf(schema, 'output');
  if (route.enveloped !== false) return jsonContent(enveloped(inner));
  return inner['type'] === 'string' ? { 'text/*': { schema: inner } } : jsonContent(inner);
}

const isMedia = (schema: z.ZodType | MediaBody): schema is MediaBody => 'mediaType' in schema;

const isRaw = ({ body = 'json' }: AnyRoute) => body !== 'json';

/** Bytes have no schema; their media type describes them. */
const rawContent = (mediaType = 'application/octet-stream'): Json => ({ [mediaType]: {} });

function jsonContent(schema: unknown): Json {
  return { 'application/json': { schema } };
}

/** The JSON Schema, without the `$schema` that names its dialect. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  });
  return rest;
}

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null;
