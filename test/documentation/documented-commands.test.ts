/**
 * Every command that the documents tell to run is run here as it stands there, or is listed with the reason why not.
 */
import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Sandbox } from './sandbox.ts';
import { codeBlocksOf, documentFiles, textOf } from './texts.ts';

/** It builds, starts and ends the server three times. */
const limitMs = 300_000;

/** By document and first line. */
const ran = {
  start: ['README.md', 'npm ci && npm start'],
  startBehindProxy: ['README.md', 'PUBLIC_URL=https://notes.example.org npm start'],
  tryTheApi: ['README.md', 'SERVER=http://127.0.0.1:3000'],
  backUp: [
    'docs/operations.md',
    'export PGHOST=$PWD/data/postgres PGUSER=scriptorium PGDATABASE=scriptorium',
  ],
  restore: ['docs/operations.md', 'psql -Xq -v ON_ERROR_STOP=1 -f scriptorium.sql'],
  markAsRestored: ['docs/operations.md', 'touch data/restored'],
} as const;

const notRun: readonly (readonly [file: string, firstLine: string, reason: string])[] = [
  ['README.md', 'npm ci && npm test', 'is what runs this test'],
  [
    'README.md',
    'sudo -u postgres psql -c "CREATE ROLE scriptorium LOGIN PASSWORD \'password\'" \\',
    'needs the PostgreSQL of a system and fixed ports; test/cluster starts three such processes',
  ],
  [
    'docs/operations.md',
    'sudo useradd --system --home-dir /var/lib/scriptorium --shell /usr/sbin/nologin scriptorium',
    'makes a user and folders of the system',
  ],
  ['docs/operations.md', 'sudo systemctl daemon-reload', 'needs systemd'],
  [
    'docs/kubernetes.md',
    'docker build -f Containerfile -t registry.example.org/scriptorium:0.1.0 .',
    'needs a container engine and a registry of images; test/kubernetes builds the same by buildah',
  ],
  [
    'docs/kubernetes.md',
    'helm install notes helm --namespace notes --create-namespace --values helm/presets/small.yaml \\',
    'needs a Kubernetes: test/kubernetes/single-pod.ts; test/helm/documents.test.ts renders what it would install',
  ],
  [
    'docs/kubernetes.md',
    'kubectl create namespace notes',
    'needs a Kubernetes: test/kubernetes/trial.ts; test/helm/documents.test.ts renders what it would install',
  ],
  [
    'docs/kubernetes.md',
    'helm upgrade notes helm --namespace notes --reset-then-reuse-values --set image.tag=0.2.0',
    'needs a Kubernetes: test/kubernetes/steps.ts',
  ],
  [
    'docs/kubernetes.md',
    'helm test notes --namespace notes --logs',
    'needs a Kubernetes: test/kubernetes/trial.ts; test/behaviour/operations/smoke-test.test.ts runs what its pod runs',
  ],
  [
    'docs/kubernetes.md',
    'kubectl --namespace notes exec notes-scriptorium-hosts-0 -- scriptorium nodes',
    'needs a Kubernetes: test/kubernetes/trial.ts',
  ],
  [
    'docs/kubernetes.md',
    'mkdir -m 700 secrets',
    'needs a container engine; test/helm/compose.test.ts reads its settings as the server does',
  ],
  [
    'load-tests/README.md',
    'npm run load-test -- steady-mix',
    'takes a minute; test/load-tests/runs.test.ts runs every scenario for some seconds',
  ],
  [
    'load-tests/README.md',
    'npm run load-test -- seed --profile full --url https://notes.example.org --users users.json',
    'takes a quarter of an hour; test/load-tests/command.test.ts gives the same options smaller values',
  ],
  [
    'load-tests/README.md',
    'npm run load-test -- hand-over --profile ci --url https://notes.example.org --users users.json \\',
    'needs a Kubernetes; test/load-tests/command.test.ts has something else done halfway',
  ],
  [
    'load-tests/README.md',
    'npm run load-test -- soak --profile full --url https://notes.example.org --users users.json \\',
    'takes a night; test/load-tests/command.test.ts sets rate and duration likewise',
  ],
  [
    'load-tests/README.md',
    'npm run load-test -- archive steady-mix --profile full --url https://notes.example.org --users users.json --out load-test.tar',
    'needs further machines; test/load-tests/command.test.ts runs both segments of an archive',
  ],
  [
    'load-tests/README.md',
    'npm run load-test -- seed --profile ci --url https://notes.example.org --users users.json',
    'needs a Kubernetes: test/kubernetes/load-test.ts; test/helm/load-test.test.ts runs the script of the Job',
  ],
];

const blocks = documentFiles.flatMap(codeBlocksOf);

const firstLineOf = (text: string): string => text.split('\n')[0] ?? '';

function textOfBlock([file, firstLine]: readonly [string, string]): string {
  const found = blocks.filter((block) => block.file === file && firstLineOf(block.text) === firstLine);
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${file} has ${found.length} blocks "${firstLine}"`);
  return only.text;
}

test('every block of commands in a document is run by a test, or has a reason why it is not', (t) => {
  const known = [...Object.values(ran), ...notRun].map(([file, firstLine]) => `${file}: ${firstLine}`);
  const told = blocks
    .filter(({ language }) => language === 'sh')
    .map(({ file, text }) => `${file}: ${firstLineOf(text)}`);
  t.deepEqual(told.toSorted(), known.toSorted());
});

test('blocks of code say what they are', (t) => {
  const languages = new Set(['sh', 'json', 'ini', 'nginx', 'sql', 'ts']);
  const unknown = blocks.filter(({ language }) => language !== '' && !languages.has(language));
  t.deepEqual(unknown, []);
  const commands = blocks.filter(
    ({ language, text }) => language === '' && /^\s*(?:npm|npx|sudo|curl) /m.test(text),
  );
  t.deepEqual(commands, []);
});

test('a newcomer starts the server, tries the API, backs up, and restores', async (t) => {
  t.timeout(limitMs);
  const sandbox = new Sandbox(t);
  const server = await sandbox.start(textOfBlock(ran.start));
  const tried = textOfBlock(ran.tryTheApi).replace('http://127.0.0.1:3000', server.url);
  const printed = await sandbox.run(`${tried}\necho; printf '%s' "$TOKEN"`);
  const [answer = '', token = ''] = printed.trim().split('\n');
  const { data: synced } = JSON.parse(answer);
  t.is(synced.saved_items.length, 1);
  t.deepEqual(synced.conflicts, []);
  const description = JSON.parse(await sandbox.run(`curl -sf '${server.url}/v1/openapi.json'`));
  t.deepEqual(endpointsDescribed(), endpointsOf(description), 'docs/protocol describes what is served');
  await sandbox.run(textOfBlock(ran.backUp));
  await server.stop();

  startAnew(sandbox);
  const empty = await sandbox.start(textOfBlock(ran.startBehindProxy));
  t.is(empty.url, 'https://notes.example.org');
  const [address = '', password = ''] = textOfBlock(ran.backUp).split('\n');
  await sandbox.run([address, password, textOfBlock(ran.restore)].join('\n'));
  await empty.stop();
  await sandbox.run(textOfBlock(ran.markAsRestored));

  const restored = await sandbox.start(textOfBlock(ran.start));
  const { data } = JSON.parse(
    await sandbox.run(
      `curl -sf '${restored.url}/v1/items' -H 'Authorization: Bearer ${token}' -d '${JSON.stringify({ api: '20200115', sync_token: synced.sync_token })}'`,
    ),
  );
  await restored.stop();
  t.deepEqual(
    data.retrieved_items.map(({ uuid, content }: { uuid: string; content: string }) => [uuid, content]),
    [[synced.saved_items[0].uuid, '004:ciphertext']],
    'devices read everything again',
  );

  t.true(operatorCommands.has('drain'));
  for (const command of operatorCommands)
    t.regex(await sandbox.run(`node dist/cli/main.js help ${command}`), /^Usage: /, command);
});

const [, commandLine = ''] = textOf('docs/operations.md').split('## The command line');
const operatorCommands = new Set(
  [...(commandLine.split('\n## ')[0]?.matchAll(/^\| `([a-z-]+)/gm) ?? [])].map(([, name = '']) => name),
);

/** As `GET /v1/items/:uuid`, sorted. */
/** What lies below `/files` as well is described once (docs/protocol/files.md). */
function endpointsOf({ paths }: { paths: Readonly<Record<string, object>> }): readonly string[] {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
  return [...new Set(endpoints.map((endpoint) => endpoint.replace(' /files/v1/', ' /v1/')))].toSorted();
}

function endpointsDescribed(): readonly string[] {
  const pages = documentFiles.filter(
    (file) => file.startsWith('docs/protocol/') && !file.endsWith('README.md'),
  );
  const told = pages.flatMap((file) => [
    ...textOf(file).matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[\w/.:-]*)`/g),
  ]);
  return [...new Set(told.map(([, endpoint = '']) => endpoint))].toSorted();
}

/** A data directory with nothing but the secret. */
function startAnew({ path }: Sandbox): void {
  renameSync(join(path, 'data'), join(path, 'data-before'));
  mkdirSync(join(path, 'data'), { mode: 0o700 });
  cpSync(join(path, 'data-before', 'secret-key'), join(path, 'data', 'secret-key'));
}
