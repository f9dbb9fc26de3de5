import test from 'ava';
import { runCommandLine } from './program.ts';
import { columnsMax } from './table.ts';

const defaults = { address: '127.0.0.1:1', ca: undefined, cert: undefined, key: undefined };

async function run(...args: readonly string[]) {
  const written = { out: '', err: '' };
  const code = await runCommandLine(args, defaults, {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: () => Promise.reject(new Error('nothing waits here')),
  });
  return { code, ...written };
}

for (const [what, args, said] of [
  ['a command that does not exist', ['node'], /unknown command 'node'\n\(Did you mean nodes\?\)/],
  ['a missing argument', ['where', 'user'], /missing required argument 'id'/],
  ['an argument too many', ['nodes', 'a'], /too many arguments/],
  ['an unknown option', ['nodes', '--jsno'], /unknown option '--jsno'\n\(Did you mean --json\?\)/],
  ['a time that is none', ['drain', 'a', '--timeout-ms', 'soon'], /It is no whole number from 1 to/],
  ['a limit beyond the bound', ['tells', '--limit', '1001'], /It is no whole number from 1 to 1000/],
  ['an address that is none', ['nodes', '--address', 'here'], /--address here is not host:port/],
  ['a certificate without its key', ['nodes', '--cert', '/nowhere'], /--cert and --key need each other/],
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
  const listed = [...overview.out.matchAll(/^ {2}(\w+)(?: \[options\])?(?: <\w+>)* {2,}\w/gm)];
  const commands = listed.map(([, name = '']) => [name]).filter(([name]) => name !== 'user');
  t.deepEqual(commands.length, 10);
  for (const command of [...commands, ['user', 'find'], ['user', 'show'], ['user', 'sign-out']]) {
    const { code, out } = await run(...command, '--help');
    t.is(code, 0);
    t.regex(out, /\nWhen to use it:\n {2}\w/, command.join(' '));
    t.regex(out, /\nExamples:\n {2}\$ scriptorium /, command.join(' '));
    t.true(out.split('\n').every((line) => line.length <= columnsMax));
  }
});
