import test from 'ava';
import type { Migrate } from './commands/migrate.ts';
import type { Reshard } from './commands/reshard.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { runCommandLine } from './program.ts';
import { columnsMax } from './table.ts';

const defaults = { address: '127.0.0.1:1', token: undefined, ca: undefined, cert: undefined, key: undefined };

const reshard: Reshard = async (shardCount, onProgress) => {
  if (shardCount === 16) return { outcome: 'unchanged' };
  if (shardCount === 32) throw new CommandFailure(exitCodes.refused, 'The node "a" has a lease.');
  onProgress('timer', 1_000);
  return { outcome: 'done', from: 16, rows: 1_234 };
};

const noBackups = () => Promise.reject(new CommandFailure(exitCodes.unavailable, 'no backups here'));
const backups = { create: noBackups, list: noBackups, verify: noBackups, restore: noBackups };

const pending = [
  {
    id: 'domain-0008-tag',
    sql: '\n    CREATE TABLE IF NOT EXISTS tag (\n      uuid uuid NOT NULL PRIMARY KEY\n    )',
  },
  { id: 'domain-0009-tag-name', sql: 'ALTER TABLE tag ADD COLUMN IF NOT EXISTS name text' },
];

/** The output for a database that lacks these. */
const migrateOf = (lacking: typeof pending): Migrate => ({
  plan: async () => lacking,
  apply: async (onApplied) => {
    for (const { id } of lacking) onApplied(id);
    return lacking.map(({ id }) => id);
  },
});

const examine = async () => [
  { check: 'clock', state: 'ok' as const, found: 'It is right.' },
  { check: 'disk', state: 'problem' as const, found: 'It is full.', remedy: 'Make room.' },
];

const run = (...args: readonly string[]) => runWith(migrateOf(pending), ...args);

async function runWith(migrate: Migrate, ...args: readonly string[]) {
  const written = { out: '', err: '' };
  const code = await runCommandLine(
    args,
    defaults,
    {
      out: (text) => {
        written.out += text;
      },
      err: (text) => {
        written.err += text;
      },
      askSecret: () => Promise.reject(new Error('nobody types here')),
      nowMs: () => 0,
      monotonicMs: () => 0,
      sleep: () => Promise.reject(new Error('nothing waits here')),
    },
    { version: '1.2.3', migrate, reshard, examine, backups },
  );
  return { code, ...written };
}

test('doctor shows each finding with its remedy, and fails where there is a problem', async (t) => {
  const { code, out } = await run('doctor');
  t.is(code, 1);
  t.is(out, 'ok       clock: It is right.\nproblem  disk: It is full.\n         Make room.\n');
  t.is(JSON.parse((await run('--json', 'doctor')).out).findings[1].remedy, 'Make room.');
});

test('reshard reports its progress, and the result', async (t) => {
  const { code, out, err } = await run('reshard', '--shards', '64');
  t.is(code, 0);
  t.is(err, 'timer: 1,000 rows\n');
  t.is(out, 'The database now has 64 shards (16 before). Start every node with SHARD_COUNT=64.\n');
  const { out: json } = await run('reshard', '--shards', '64', '--json');
  t.deepEqual(JSON.parse(json), { outcome: 'done', shardCount: 64, from: 16, rows: 1_234 });
});

test('reshard says when there is nothing to do, and why it cannot be', async (t) => {
  const { code, out } = await run('reshard', '--shards', '16');
  t.deepEqual([code, out], [0, 'The database already has 16 shards.\n']);
  const refused = await run('reshard', '--shards', '32');
  t.deepEqual([refused.code, refused.out, refused.err], [1, '', 'The node "a" has a lease.\n']);
});

test('migrate plan shows what would be applied, and apply tells what was', async (t) => {
  const statements = ['CREATE TABLE IF NOT EXISTS tag ( uuid uuid NOT NULL PRIMARY KEY )', pending[1]?.sql];
  const plan = await run('migrate', 'plan');
  t.deepEqual(plan, {
    code: 0,
    out: `-- domain-0008-tag\n${statements[0]};\n-- domain-0009-tag-name\n${statements[1]};\n`,
    err: '',
  });
  const { pending: listed } = JSON.parse((await run('migrate', 'plan', '--json')).out);
  t.deepEqual(
    listed,
    pending.map(({ id }, index) => ({ id, sql: statements[index] })),
  );
  const applied = await run('migrate', 'apply');
  t.deepEqual(applied, {
    code: 0,
    out: 'The database has the schema of this release.\n',
    err: 'domain-0008-tag\ndomain-0009-tag-name\n',
  });
  t.deepEqual(JSON.parse((await run('migrate', 'apply', '--json')).out), {
    applied: ['domain-0008-tag', 'domain-0009-tag-name'],
  });
});

test('migrate says when there is nothing to do, and why it cannot be', async (t) => {
  for (const command of ['plan', 'apply']) {
    const { code, out, err } = await runWith(migrateOf([]), 'migrate', command);
    t.deepEqual([code, out, err], [0, 'The database has the schema of this release.\n', '']);
  }
  const failing = () => Promise.reject(new CommandFailure(exitCodes.refused, 'DATABASE_URL is not set.'));
  const refused = await runWith({ plan: failing, apply: failing }, 'migrate', 'plan');
  t.deepEqual([refused.code, refused.out, refused.err], [1, '', 'DATABASE_URL is not set.\n']);
});

test('a failure cannot control the terminal with text of another server, and keeps its lines', async (t) => {
  const failing = () =>
    Promise.reject(CommandFailure.refused('It says: \u001b[2J\u0007.\nNothing was written.'));
  const refused = await runWith({ plan: failing, apply: failing }, 'migrate', 'plan');
  t.is(refused.err, 'It says: ·[2J·.\nNothing was written.\n');
});

for (const [what, args, said] of [
  ['a command that does not exist', ['node'], /unknown command 'node'\n\(Did you mean nodes\?\)/],
  ['a missing argument', ['where', 'user'], /Name a kind and an id, or the address of a user/],
  ['an argument too many', ['nodes', 'a'], /too many arguments/],
  ['an unknown option', ['nodes', '--jsno'], /unknown option '--jsno'\n\(Did you mean --json\?\)/],
  ['a time that is none', ['drain', 'a', '--timeout-ms', 'soon'], /It is not a whole number from 1 to/],
  ['a limit beyond the bound', ['tells', '--limit', '1001'], /It is not a whole number from 1 to 1000/],
  ['a number of shards that is no power of two', ['reshard', '--shards', '100'], /It is not a power of two/],
  ['no number of shards', ['reshard'], /required option '--shards <n>' not specified/],
  [
    'an address that is none',
    ['nodes', '--address', 'here'],
    /--address here is neither host:port nor unix:/,
  ],
  [
    'a socket too deep',
    ['nodes', '--address', `unix:/${'d'.repeat(103)}`],
    /go to its folder, and use --address/,
  ],
  ['a token that is not there', ['nodes', '--token', '/nowhere'], /--token cannot be read: ENOENT/],
  [
    'a certificate without its key',
    ['nodes', '--cert', '/nowhere'],
    /--cert and --key must be given together/,
  ],
  ['a file that is not there', ['nodes', '--ca', '/nowhere'], /--ca cannot be read: ENOENT/],
  [
    'a file that is no certificate',
    ['nodes', '--ca', 'package.json'],
    /--ca package.json is not in PEM form/,
  ],
  ['no command at all', [], /Usage: scriptorium/],
] as const) {
  test(`${what} is exit code 64, and said`, async (t) => {
    const { code, out, err } = await run(...args);
    t.deepEqual({ code, out }, { code: 64, out: '' });
    t.regex(err, said);
  });
}

test('help says of every command when to use it, with an example', async (t) => {
  const overview = await run('--help');
  t.is(overview.code, 0);
  const listed = [
    ...overview.out.matchAll(/^ {2}(\w+)(?:\|\w+)?(?: \[options\])?(?: [<[]\w+[>\]])* {2,}\w/gm),
  ];
  const groups = {
    migrate: ['plan', 'apply'],
    user: [
      'find',
      'list',
      'show',
      'sign-out',
      'reset-factor',
      'promote',
      'demote',
      'flags',
      'set-flag',
      'remove-flag',
    ],
    registration: ['show', 'close', 'open'],
    calendar: ['revoke'],
    import: ['server', 'verify', 'account', 'unlock'],
    export: ['user'],
    backup: ['list', 'verify'],
    mail: ['relays', 'set-relays', 'test', 'queue', 'log', 'retry', 'discard'],
    pairing: ['status', 'list', 'start', 'complete', 'unpair', 'unpair-all', 'usage'],
  };
  const inGroups = Object.entries(groups).flatMap(([group, names]) => names.map((name) => [group, name]));
  const commands = listed
    .map(([, name = '']) => [name])
    .filter(([name = '']) => !(name in groups) && name !== 'help');
  t.deepEqual(commands.length, 15);
  for (const command of [...commands, ...inGroups]) {
    const { code, out } = await run(...command, '--help');
    t.is(code, 0);
    t.regex(out, /\nWhen to use it:\n {2}\w/, command.join(' '));
    t.regex(out, /\nExamples:\n {2}\$ scriptorium /, command.join(' '));
    t.true(out.split('\n').every((line) => line.length <= columnsMax));
  }
});

test('--version is the release of the command line', async (t) => {
  t.deepEqual(await run('--version'), { code: 0, out: '1.2.3\n', err: '' });
});

test('a backup to no place, or with a wrong number to keep, is a wrong command line', async (t) => {
  t.is((await run('backup', '/srv/backups', '--keep', '0')).code, exitCodes.usage);
  t.is((await run('backup', '/srv/backups')).err, 'no backups here\n');
  t.is((await run('backup', 'verify', '/srv/backups', '--accounts', 'x')).code, exitCodes.usage);
});
