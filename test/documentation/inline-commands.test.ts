/** Command lines that a document quotes within its text, such as `scriptorium nodes`, are commands with such options. */
import test from 'ava';
import { startApi } from '../kit/internal-api.ts';
import { operate, runTyped } from '../kit/operator.ts';
import { documentFiles, textOf, withoutCode } from './texts.ts';

const quoted = /`(?:[^`]*\s)?scriptorium ([a-z][^`]*)`/g;

const lines = documentFiles.flatMap((file) =>
  [...withoutCode(textOf(file)).matchAll(quoted)].map(([, line = '']) => ({ file, line })),
);

const helpOf = async (words: readonly string[]): Promise<string> =>
  (await runTyped([...words, '--help'], { address: 'unix:nowhere' })).out;

/** The last word of the command that a line begins with, and the help of that command. */
async function commandIn(line: string): Promise<{ readonly name: string; readonly help: string }> {
  const words: string[] = [];
  let help = await helpOf(words);
  for (const word of line.split(/\s+/)) {
    if (!/^[a-z][a-z-]*$/.test(word) || !/^Usage: .*\[command\]/.test(help)) break;
    words.push(word);
    help = await helpOf(words);
  }
  return { name: words.at(-1) ?? '', help };
}

test('every command that a document quotes exists, with the options that it is quoted with', async (t) => {
  t.true(lines.length > 20);
  for (const { file, line } of lines) {
    if (line.startsWith('help ')) continue;
    const { name, help } = await commandIn(line);
    const [usage = ''] = help.split('\n');
    t.true(usage.split(/[ |]/).includes(name), `${file}: ${line}`);
    for (const [option] of line.matchAll(/--[a-z-]+/g))
      t.true(help.includes(`${option} `), `${file}: ${line}`);
  }
});

const subcommandsOf = (help: string): readonly string[] => {
  const [, list = ''] = /^Commands:\n((?: .*\n)+)/m.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
};

/** All that the command line has below these words, as `user find`. */
async function commandsBelow(words: readonly string[] = []): Promise<readonly string[]> {
  const help = await helpOf(words);
  const below = await Promise.all(subcommandsOf(help).map((name) => commandsBelow([...words, name])));
  const isGroup = /^Usage: .*\[command\]$/m.test(help);
  return [...(isGroup ? [] : [words.join(' ')]), ...below.flat()];
}

test('docs/operations.md lists every command', async (t) => {
  const [, section = ''] = /^## The command line\n([\s\S]*?)^## /m.exec(textOf('docs/operations.md')) ?? [];
  const rows = [...section.matchAll(/^\| `.+$/gm)].map(([row]) => row.replaceAll('users ', 'user '));
  const commands = await commandsBelow();
  t.true(commands.length > 40);
  t.deepEqual(
    commands.filter((command) => !rows.some((row) => new RegExp(`\`${command}[\` ]`).test(row))),
    [],
  );
});

test('the commands that replace what the page for administrators cannot do work as they are quoted', async (t) => {
  const world = await startApi(t);
  const user = await world.server.device('alice@example.org');
  const commands = lines.filter(({ file }) => file === 'docs/administration.md').map(({ line }) => line);
  t.deepEqual(commands, ['user promote', 'users list', 'user show UUID', 'user reset-factor UUID --yes']);
  for (const command of commands.slice(1)) {
    const args = command.replace('UUID', user.account.userUuid).split(' ');
    t.like(await operate(world, ...args), { code: 0 }, command);
  }
});
