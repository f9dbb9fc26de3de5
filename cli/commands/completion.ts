/** `completion`: lets a shell complete command lines. */
import { Argument } from 'commander';
import { completionFor, type Shell, shells } from '../completion.ts';
import type { AddCommands } from './command.ts';

export const addCompletionCommand: AddCommands = (program, run) => {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell that you use').choices(shells))
    .summary('a script that lets your shell complete command lines')
    .description('Write the script by which a shell completes commands and options. It asks no node.')
    .action((shell: Shell) => run(async (session) => session.terminal.out(completionFor(shell, program))))
    .teach(
      'Once for each user, and again after an update. Load the script when the shell starts.',
      'completion bash > ~/.local/share/bash-completion/completions/scriptorium',
      'completion zsh > ~/.zfunc/_scriptorium',
      'completion fish > ~/.config/fish/completions/scriptorium.fish',
    );
};
