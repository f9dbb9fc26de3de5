/**
 * Every command that the documents tell readers to type runs literally, here or in a test that takes it from there.
 * The others are listed in `test/documentation/not-run.ts`.
 */
import test from 'ava';
import { ageKeygen } from '../../tools/programs.ts';
import { commandsIn, commandsOf, commandsToRun, isOf, replaced, scriptsOf } from './commands.ts';
import { notRun } from './not-run.ts';
import { Sandbox } from './sandbox.ts';
import { codeBlocksOf, documentFiles, sourceFiles, textOf } from './texts.ts';

/** It builds, starts and ends the server three times. */
const limitMs = 300_000;

const { start, startBehindProxy } = scriptsOf('README.md', 'Run it', ['start', 'startBehindProxy']);
const { closeRegistration } = commandsOf('README.md', 'Decide who may register', ['closeRegistration']);
const { tryTheApi } = scriptsOf('docs/protocol/README.md', 'Try it', ['tryTheApi']);
const { backUp } = commandsOf('docs/backup.md', 'Back up', ['backUp']);
const { makeIdentity } = commandsOf('docs/backup.md', 'Encrypt', ['makeIdentity']);
const { list, verify, verifyEncrypted } = commandsOf('docs/backup.md', 'See whether it can be restored', [
  'list',
  'verify',
  'verifyEncrypted',
]);
const { putAside, makeFolder, putKey, restore } = commandsOf('docs/backup.md', 'Restore', [
  'putAside',
  'makeFolder',
  'putKey',
  'restore',
]);
const { markAsRestored } = commandsOf('docs/backup.md', 'A copy of the data directory', ['markAsRestored']);

const { examine } = commandsOf('docs/import.md', 'One evening', [
  'makeFolder',
  'copy',
  'look',
  'bulk',
  'rest',
  'compare',
  'examine',
]);

const blocks = documentFiles.flatMap(codeBlocksOf);
const commandBlocks = blocks.filter(({ language }) => language === 'sh');

const claim = /const \{([^}]*)\} = (?:commands|scripts)Of\(\s*'([^']+)',\s*'([^']+)',\s*\[([^\]]*)\]/g;
const wordsOf = (list: string): readonly string[] => list.match(/\w+/g) ?? [];

/** Which tests take which commands of a section. Commands have names, and the linter finds unused ones. */
const claims = sourceFiles.flatMap((file) =>
  [...textOf(file).matchAll(claim)].map(([, tested = '', document, section, names = '']) => ({
    where: `${document}, "${section}"`,
    tested: wordsOf(tested),
    names: wordsOf(names),
  })),
);

/** The names of a section's commands that no test takes. */
function leftOf(where: string): readonly string[] {
  const ofSection = claims.filter((each) => each.where === where);
  if (ofSection.length === 0) return [`${where}: all`];
  const tested = new Set(ofSection.flatMap((each) => each.tested));
  return ofSection.flatMap(({ names }) =>
    names.filter((name) => !tested.has(name)).map((name) => `${where}: ${name}`),
  );
}

test('every command of a document is run by a test that reads it there, or has a reason why not', (t) => {
  const toBeRun = commandBlocks.filter(({ file, section }) => commandsToRun(file, section).length > 0);
  const all = new Set(toBeRun.map(({ file, section }) => `${file}, "${section}"`));
  t.deepEqual([...all].flatMap(leftOf), []);
  for (const exception of notRun) {
    const { file, section, beginning } = exception;
    const there = commandBlocks.filter((block) => block.file === file && block.section === section);
    const commands = there.flatMap(({ text }) => commandsIn(text));
    t.true(
      commands.some((command) => isOf(exception, command)),
      `${file}, "${section}": ${beginning}`,
    );
  }
});

test('a document with a command more or less than its tests know of fails, and so does an example that is gone', (t) => {
  t.throws(() => commandsOf('docs/kubernetes.md', 'Upgrades', ['upgrade', 'more']), {
    message: /^docs\/kubernetes\.md, "Upgrades" has other commands than upgrade, more:\nhelm upgrade /,
  });
  t.throws(() => replaced('helm test notes', { 'notes.example.org': '127.0.0.1' }), {
    message: '"notes.example.org" is not in: helm test notes',
  });
  t.is(replaced('one --to one', { one: '$&' }), '$& --to $&');
  t.deepEqual(commandsIn('# First\nmake this \\\n  --and that\n\n  then this # so\n'), [
    'make this --and that',
    '  then this # so',
  ]);
});

test('blocks of code say what they are', (t) => {
  const languages = new Set(['sh', 'json', 'ini', 'nginx', 'caddy', 'haproxy', 'sql', 'ts']);
  const unknown = blocks.filter(({ language }) => language !== '' && !languages.has(language));
  t.deepEqual(unknown, []);
  const commands = blocks.filter(
    ({ language, text }) => language === '' && /^\s*(?:npm|npx|sudo|curl) /m.test(text),
  );
  t.deepEqual(commands, []);
});

test('a newcomer starts the server, makes an account, closes the registration, backs up, and restores', async (t) => {
  t.timeout(limitMs);
  const sandbox = new Sandbox(t);
  const server = await sandbox.start(start);
  const tried = replaced(tryTheApi, { 'http://127.0.0.1:3000': server.url });
  const printed = await sandbox.run(`${tried}\necho; printf '%s' "$TOKEN"`);
  const [answer = '', token = ''] = printed.trim().split('\n');
  const { data: synced } = JSON.parse(answer);
  t.is(synced.saved_items.length, 1);
  t.deepEqual(synced.conflicts, []);
  const description = JSON.parse(await sandbox.run(`curl -sf '${server.url}/v1/openapi.json'`));
  const [described, served] = [endpointsDescribed(), endpointsOf(description)];
  t.deepEqual(
    [...served].filter((endpoint) => !described.has(endpoint)),
    [],
    'docs/protocol lacks these',
  );
  t.deepEqual(
    [...described].filter((endpoint) => !served.has(endpoint)),
    [],
    'these are not served',
  );
  t.regex(await sandbox.run(examine), /^(?:ok|warning) +configuration: /m);
  t.is(await sandbox.run(closeRegistration), 'The registration is closed.\n');
  await t.throwsAsync(sandbox.run(tried.replaceAll('you@example.org', 'stranger@example.org')));
  await sandbox.run(backUp);
  sandbox.link(ageKeygen);
  const [recipient = ''] = /age1\w+/.exec(await sandbox.run(`${makeIdentity} 2>&1`)) ?? [];
  const elsewhere = (command: string): string => replaced(command, { ' backups': ' encrypted-backups' });
  await sandbox.run(`BACKUP_RECIPIENTS=${recipient} ${elsewhere(backUp)}`);
  await server.stop();
  t.regex(await sandbox.run(list), /^\d{8}T\d{9}Z-\w{8} .* no$/m);
  for (const command of [verify, elsewhere(verifyEncrypted)])
    t.regex(
      await sandbox.run(command),
      /^1 account signed in and synced 1 item, the same as in the backup\.$/m,
    );
  t.regex(await sandbox.run(elsewhere(list)), /^\d{8}T\d{9}Z-\w{8} .* yes$/m);

  await sandbox.run(`${putAside}\n${makeFolder}\n${putKey}`);
  t.regex(await sandbox.run(restore), /^The secret key here is that of the backup\.$/m);
  await sandbox.run(markAsRestored);

  const behindProxy = await sandbox.start(startBehindProxy);
  t.is(behindProxy.url, 'https://notes.example.org');
  await behindProxy.stop();
  const restored = await sandbox.start(start);
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
});

/** As `GET /v1/items/:uuid`. Routes that are also below `/files` are described once (docs/protocol/files.md). */
function endpointsOf({ paths }: { paths: Readonly<Record<string, object>> }): ReadonlySet<string> {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
  return new Set(endpoints.map((endpoint) => endpoint.replace(' /files/v1/', ' /v1/')));
}

function endpointsDescribed(): ReadonlySet<string> {
  const pages = documentFiles.filter(
    (file) => file.startsWith('docs/protocol/') && !file.endsWith('README.md'),
  );
  const described = pages.flatMap((file) => [
    ...textOf(file).matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[\w/.:-]*)`/g),
  ]);
  return new Set(described.map(([, endpoint = '']) => endpoint));
}
