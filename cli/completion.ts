/**
 * Scripts by which shells complete command lines of `scriptorium`. They are made from the declared commands, so they know neither
 * more nor less. A script asks no node.
 *
 * A place is how far a command line has come: the names of its commands so far, each with a space before it. Every other word,
 * such as an option or an argument, leads nowhere else.
 */
import type { Command } from 'commander';

interface CompletionState {
  readonly name: string;
  /** The commands, choices and options that may come next. */
  readonly words: readonly string[];
  /** The places that a word leads to, and the words. */
  readonly next: readonly { readonly name: string; readonly words: readonly string[] }[];
}

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export function completionFor(shell: Shell, program: Command): string {
  const commands = commandsBelow(program, '');
  const places = commands.map(({ command, name }) => placeOf(command, name, program));
  const options = commands.flatMap(({ command }) => command.options);
  const withValue = [...new Set(options.filter(takesValue).flatMap(({ long }) => long ?? []))].toSorted();
  return shell === 'fish' ? fish(places, withValue) : posix(shell, places, withValue);
}

const takesValue = ({ required, optional }: { required: boolean; optional: boolean }) => required || optional;

const namesOf = (command: Command): readonly string[] => [command.name(), ...command.aliases()];

function commandsBelow(command: Command, name: string): readonly { command: Command; name: string }[] {
  const below = command.commands.flatMap((each) => commandsBelow(each, `${name} ${each.name()}`));
  return [{ command, name }, ...below];
}

function placeOf(command: Command, name: string, program: Command): CompletionState {
  const help = command.createHelp();
  const options = new Set(
    [...help.visibleOptions(command), ...program.options].flatMap(({ long }) => long ?? []),
  );
  return {
    name,
    words: [
      ...help.visibleCommands(command).flatMap(namesOf),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      ...options,
    ],
    next: command.commands.map((each) => ({ name: `${name} ${each.name()}`, words: namesOf(each) })),
  };
}

const quoted = (text: string): string => `'${text}'`;

/** The steps that a word takes, as pairs of quoted patterns and the place. */
const stepsOf = (places: readonly CompletionState[]) =>
  places.flatMap(({ name, next }) =>
    next.map((to) => ({
      patterns: to.words.map((word) => quoted(`${name} ${word}`)),
      place: quoted(to.name),
    })),
  );

/** Bash and zsh differ in how they give the words of a line and take the candidates. */
const dialects = {
  bash: {
    head: `_scriptorium() {
  local place='' word words=''
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    before: `"\${COMP_WORDS[COMP_CWORD-1]}"`,
    files: 'return',
    tail: `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _scriptorium scriptorium`,
  },
  zsh: {
    head: `#compdef scriptorium
_scriptorium() {
  local place='' word words_here=''
  for word in "\${(@)words[2,CURRENT-1]}"; do`,
    before: `"\${words[CURRENT-1]}"`,
    files: '_files; return',
    tail: `  compadd -- \${=words_here} || _files
}
# A file of the fpath becomes the function when it is first called. Otherwise the shell is reading the script.
if [ "$funcstack[1]" = _scriptorium ]; then _scriptorium; else compdef _scriptorium scriptorium; fi`,
  },
} as const;

function posix(
  shell: 'bash' | 'zsh',
  places: readonly CompletionState[],
  withValue: readonly string[],
): string {
  const { head, before, files, tail } = dialects[shell];
  const into = shell === 'bash' ? 'words' : 'words_here';
  const steps = stepsOf(places).map(
    ({ patterns, place }) => `      ${patterns.join('|')}) place=${place} ;;`,
  );
  const candidates = places.map(
    ({ name, words }) => `    ${quoted(name)}) ${into}=${quoted(words.join(' '))} ;;`,
  );
  return `${head}
    case "$place $word" in
${steps.join('\n')}
    esac
  done
  case ${before} in
    ${withValue.join('|')}) ${files} ;;
  esac
  case "$place" in
${candidates.join('\n')}
  esac
${tail}
`;
}

function fish(places: readonly CompletionState[], withValue: readonly string[]): string {
  const steps = stepsOf(places).map(
    ({ patterns, place }) => `            case ${patterns.join(' ')}\n                set place ${place}`,
  );
  const candidates = places.map(
    ({ name, words }) => `        case ${quoted(name)}\n            printf '%s\\n' ${words.join(' ')}`,
  );
  return `function __scriptorium_words
    set -l place ''
    for word in (commandline -opc)[2..-1]
        switch "$place $word"
${steps.join('\n')}
        end
    end
    switch "$place"
${candidates.join('\n')}
    end
end
complete -c scriptorium -a '(__scriptorium_words)'
${withValue.map((option) => `complete -c scriptorium -l ${option.slice(2)} -r -F`).join('\n')}
`;
}
