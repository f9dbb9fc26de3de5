/** Completion of command lines, by the shells themselves. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findOrInstallProgram } from '../../../tools/program.ts';
import { runTyped } from '../../kit/operator.ts';
import { temporaryFolder } from '../../kit/temporary-folder.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** Prints the candidates for a command line, a line each. Its last word is the one to complete. */
const programs: Readonly<Record<Shell, (script: string, words: readonly string[]) => string>> = {
  bash: (script, words) => `source ${script}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    _scriptorium; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // The functions that only a line editor has are stood in for.
  zsh: (script, words) => `compdef() { : }; _files() { : }
    compadd() { shift; for each in "$@"; do [[ $each == "$words[CURRENT]"* ]] && print -r -- "$each"; done; true }
    source ${script}
    words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}
    _scriptorium`,
  fish: (script, words) => `source ${script}; complete -C '${words.join(' ')}'`,
};

async function completed(t: ExecutionContext, shell: Shell) {
  const program = { name: shell, variable: `${shell.toUpperCase()}_PATH`, commands: [shell], package: shell };
  const path = findOrInstallProgram(program, process.env);
  const folder = temporaryFolder(t);
  const script = join(folder, 'script');
  const made = await runTyped(['completion', shell], { address: 'unix:/nowhere' });
  t.is(made.code, 0, made.err);
  writeFileSync(script, made.out);
  return (...words: readonly string[]): readonly string[] =>
    execFileSync(path, ['-c', programs[shell](script, ['scriptorium', ...words])], {
      encoding: 'utf8',
      cwd: folder,
    })
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '')
      .filter((line) => line !== '' && line !== 'script')
      .toSorted();
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`${shell} completes commands, their names and options, at each place of a line`, async (t) => {
    const complete = await completed(t, shell);
    t.deepEqual(complete('no'), ['nodes']);
    t.deepEqual(complete('us'), ['user', 'users']);
    t.deepEqual(complete('user', 'un'), ['unban']);
    t.deepEqual(complete('users', 'li'), ['list']);
    t.deepEqual(complete('user', 'list', '--co'), ['--contains']);
    t.deepEqual(complete('--json', 'user', 'list', '--js'), ['--json']);
    const next = complete('completion', '');
    t.deepEqual(
      next.filter((word) => !word.startsWith('--')),
      ['bash', 'fish', 'zsh'],
    );
    t.deepEqual(complete('import', 'se'), ['server']);
    t.deepEqual(complete('user', 'show', 'nothing-fits'), []);
  });
}

test('another shell is refused', async (t) => {
  t.is((await runTyped(['completion', 'tcsh'], { address: 'unix:/nowhere' })).code, 64);
});
