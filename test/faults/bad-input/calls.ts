/** The requests to try, read from the server's own description of its interface, so that none is forgotten. */
import { randomUUID } from 'node:crypto';
import { marker, newItem, type World } from './world.ts';

type Type = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null';

interface Schema {
  readonly type?: Type | 'integer' | readonly (Type | 'integer')[];
  readonly anyOf?: readonly Schema[];
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export interface Call {
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly fields: readonly Field[];
  readonly inQuery: boolean;
  readonly needsSession: boolean;
  /** Its body consists of the client's bytes. */
  readonly isRaw: boolean;
}

interface Described {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: {
    /** Another type has no fields. */
    content: { 'application/json'?: { schema: { properties: Record<string, Schema>; required: string[] } } };
  };
  readonly security?: readonly object[];
}

export async function callsOf(world: World): Promise<readonly Call[]> {
  const answer = await world.ask({ method: 'GET', target: '/v1/openapi.json' });
  const { paths } = JSON.parse(answer.body.toString()) as {
    paths: Record<string, Record<string, Described>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => call(method.toUpperCase(), path, described)),
  );
}

function call(method: string, path: string, described: Described): Call {
  const { parameters = [], requestBody, security = [] } = described;
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const { properties = {}, required = [] } = requestBody?.content['application/json']?.schema ?? {};
  const inBody = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
  return {
    method,
    path,
    inQuery: method === 'GET',
    fields: [...query.map(({ name, schema, required = false }) => ({ name, schema, required })), ...inBody],
    isRaw: requestBody !== undefined && requestBody.content['application/json'] === undefined,
    needsSession: security.length > 0 && security.every((way) => 'session' in way),
  };
}

/** A request target with these values for the parameters of the path. */
export function targetOf({ path }: Call, value: string = randomUUID()): string {
  return path.replace(/\{\w+\}/g, encodeURIComponent(value));
}

/** The JSON types that a field accepts; undefined if its description leaves them open. */
export function typesOf({ schema }: Field): ReadonlySet<Type> | undefined {
  const types = new Set<Type>();
  for (const one of schema.anyOf ?? [schema]) {
    if (one.type === undefined) return undefined;
    for (const type of [one.type].flat()) types.add(type === 'integer' ? 'number' : type);
  }
  return types;
}

export function typeOf(value: unknown): Type {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as Type);
}

const goodValues: Readonly<Record<string, () => unknown>> = {
  api: () => '20200115',
  email: () => `${marker}-${randomUUID()}@bad.test`,
  new_email: () => null,
  version: () => '004',
  origination: () => 'registration',
  created: () => '1700000000000',
  ephemeral: () => false,
  items: () => [newItem()],
  integrityPayloads: () => [{ uuid: randomUUID(), updated_at_timestamp: 1 }],
  limit: () => 10,
  shared_vault_uuids: () => [],
  content_type: () => null,
  sync_token: () => null,
  cursor_token: () => null,
};

/** JSON text for each field, as an honest client could send it. */
export function goodFields({ fields }: Call): Record<string, string> {
  return Object.fromEntries(
    fields.map(({ name }) => [name, JSON.stringify((goodValues[name] ?? (() => `${marker}${name}`))())]),
  );
}

/** The text of an object whose members are JSON texts. */
export function objectText(members: Readonly<Record<string, string>> | readonly [string, string][]): string {
  const pairs = Array.isArray(members) ? members : Object.entries(members);
  return `{${pairs.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
