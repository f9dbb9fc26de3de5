/** What a process does not use is not loaded: it would take memory, and time at each start. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { builtUrl } from '../../kit/built.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';

const onlyWhenUsed = [
  '@aws-sdk/client-s3',
  '@nats-io/jetstream',
  '@nats-io/transport-node',
  '@node-rs/bcrypt',
  '@opentelemetry/sdk-trace',
  '@simplewebauthn/server',
  'age-encryption',
  'nodemailer',
];

const dataUrl = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

/** The address of each module that Node.js loads goes into the file. */
const noted = (file: string): string =>
  dataUrl(`
    import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(file)}, url + '\\n');
      return next(url, context);
    }`);

test('a server loads no client of what it may never talk to', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'loaded');
  const registered = dataUrl(
    `import { register } from 'node:module'; register(${JSON.stringify(noted(file))});`,
  );
  const server = builtUrl('process/server.ts');
  const loads = [
    '--input-type=module',
    '--eval',
    `await import(${JSON.stringify(server)}); process.exit(0);`,
  ];
  await promisify(execFile)(process.execPath, ['--import', registered, ...loads]);
  const loaded = readFileSync(file, 'utf8').split('\n');
  const isLoaded = (name: string) => loaded.some((url) => url.includes(`/node_modules/${name}/`));
  t.true(isLoaded('pg'));
  t.deepEqual(onlyWhenUsed.filter(isLoaded), []);
});
