/**
 * The commands that documents tell readers to type, for tests that run them literally. A test that asks for a section
 * must know all of its commands. `test/documentation/documented-commands.test.ts` fails if nobody asks.
 */
import { type NotRun, notRun } from './not-run.ts';
import { codeBlocksOf } from './texts.ts';

type Named<Names extends readonly string[]> = Readonly<Record<Names[number], string>>;

/** In the order of the document. @throws Error unless there are as many as names */
export const commandsOf = <const Names extends readonly string[]>(
  file: string,
  section: string,
  names: Names,
): Named<Names> => named(names, commandsToRun(file, section), `${file}, "${section}"`);

/** The same, for commands of a block that belong together. */
export const scriptsOf = <const Names extends readonly string[]>(
  file: string,
  section: string,
  names: Names,
): Named<Names> => named(names, blocksOf(file, section), `${file}, "${section}"`);

function named<Names extends readonly string[]>(
  names: Names,
  texts: readonly string[],
  where: string,
): Named<Names> {
  if (texts.length !== names.length)
    throw new Error(`${where} has other commands than ${names.join(', ')}:\n${texts.join('\n')}`);
  return Object.fromEntries(names.map((name, index) => [name, texts[index]])) as Named<Names>;
}

const blocksOf = (file: string, section: string): readonly string[] =>
  codeBlocksOf(file)
    .filter((block) => block.language === 'sh' && block.section === section)
    .map(({ text }) => text);

/** All of a section except commands that cannot run. */
export function commandsToRun(file: string, section: string): readonly string[] {
  const exceptions = notRun.filter((of) => of.file === file && of.section === section);
  const commands = blocksOf(file, section).flatMap(commandsIn);
  return commands.filter((command) => !exceptions.some((exception) => isOf(exception, command)));
}

export const isOf = ({ beginning = '' }: NotRun, command: string): boolean => command.startsWith(beginning);

/** Continued lines are one command, and comments are none. */
export const commandsIn = (script: string): readonly string[] =>
  script
    .replace(/ *\\\n */g, ' ')
    .split('\n')
    .filter((line) => /^\s*[^\s#]/.test(line));

/**
 * The same for other servers, folders and amounts than those of the document. @throws Error if one of those is
 * missing
 */
export const replaced = (command: string, replacements: Readonly<Record<string, string>>): string =>
  Object.entries(replacements).reduce((text, [example, own]) => {
    if (!text.includes(example)) throw new Error(`"${example}" is not in: ${command}`);
    return text.replaceAll(example, () => own);
  }, command);

/** The same text, with paths and addresses of this machine for those of the document that it names. */
export const relocated = (text: string, places: Readonly<Record<string, string>>): string =>
  Object.entries(places).reduce((read, [place, own]) => read.replaceAll(place, () => own), text);
