/**
 * Generates parts of the chart: the names of settings in its schema, and its README from the comments of its values.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { secretSettings, settings } from '../process/config/settings.ts';
import { everySetting } from '../runtime/setting.ts';
import { buildHelmDocs, helmDocsProgram } from './programs.ts';

const textOf = (name: string): string => readFileSync(new URL(`../helm/${name}`, import.meta.url), 'utf8');

/** Settings that the chart makes itself, from its own values or from the pod. */
const decidedByChart =
  /^(?:HOST|PORT|ADMIN_(?:HOST|PORT)|DATA_DIR|ROLE|NODE_ID|PUBLIC_URL|CLUSTER_NAME|SHARD_COUNT|EXPECTED_HOSTS|DISABLE_USER_REGISTRATION|ALLOW_OPEN_REGISTRATION|MIGRATE_AT_START|FILES_FOLDER|FILES_FOLDER_SHARED|NATS_(?:CA|CERT|KEY|CREDENTIALS)_FILE|GRPC_\w+|E2E_TESTING)$/;

interface Schema {
  readonly properties: {
    readonly settings: { readonly propertyNames: { enum: readonly string[] } };
    readonly secrets: {
      readonly properties: { readonly keys: { readonly propertyNames: { enum: readonly string[] } } };
    };
  };
}

/** `helm/values.schema.json`, with the current names of the settings. */
export function chartSchema(): string {
  const schema: Schema = JSON.parse(textOf('values.schema.json'));
  schema.properties.settings.propertyNames.enum = everySetting(settings)
    .map(({ name }) => name)
    .filter((name) => !decidedByChart.test(name));
  schema.properties.secrets.properties.keys.propertyNames.enum = everySetting(secretSettings).map(
    ({ name }) => name,
  );
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

const helmDocsOptions = [
  '--dry-run',
  '--ignore-non-descriptions',
  '--sort-values-order',
  'file',
  '--log-level',
  'error',
];

/** `helm/README.md`: `README.md.gotmpl` with a row for each value whose comment begins with two dashes. */
export function chartReadme(): string {
  buildHelmDocs();
  const folder = fileURLToPath(new URL('../helm', import.meta.url));
  return execFileSync(helmDocsProgram, ['--chart-search-root', folder, ...helmDocsOptions], {
    encoding: 'utf8',
  });
}
