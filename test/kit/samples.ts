/** Values that fit a JSON schema, for requests that must pass the gateway's check of their fields. */

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema
type Schema = any;

/** The smallest value that fits. @throws Error for a schema that this cannot read */
export function sampleOf(schema: Schema): unknown {
  const { anyOf, oneOf, allOf, type, properties = {}, required = [] } = schema;
  if ('const' in schema) return schema.const;
  if ('enum' in schema) return schema.enum[0];
  const [first] = anyOf ?? oneOf ?? allOf ?? [];
  if (first !== undefined) return sampleOf(first);
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, (schema.exclusiveMinimum ?? -1) + 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items));
    case 'object':
      return Object.fromEntries(required.map((name: string) => [name, sampleOf(properties[name])]));
    case undefined:
      return {};
    default:
      throw new Error(`no sample of ${JSON.stringify(schema)}`);
  }
}

const uuid = '00000000-0000-4000-8000-000000000000';

function textOf({ format, minLength = 1 }: Schema): string {
  if (format === 'uuid') return uuid;
  if (format === 'email') return 'somebody@example.org';
  if (format === 'date-time') return '2026-01-01T00:00:00.000Z';
  return 'x'.repeat(Math.max(1, minLength));
}
