/** Turns the environment into values, or into a list of everything that is wrong with it. */
import {
  type Declarations,
  everySetting,
  type Setting,
  type SettingsOf,
  settingsOf,
  WrongValue,
} from '../../runtime/setting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The sources: a secret may be in a file, which another variable names. */
export interface Sources {
  readonly environment: Environment;
  /** @throws Error */
  readFile(path: string): string;
}

export interface ReadResult<D extends Declarations> {
  /** Undefined if there are problems. */
  readonly values: SettingsOf<D> | undefined;
  /** One sentence for each problem. It contains no secret values. */
  readonly problems: readonly string[];
}

/** The variable that names a file with a secret. */
export const fileVariable = (name: string): string => `${name}_FILE`;

/** Every declared variable. */
export const variablesOf = (declarations: Declarations): readonly string[] =>
  everySetting(declarations).flatMap(({ name, isSecret }) =>
    isSecret ? [name, fileVariable(name)] : [name],
  );

export function read<D extends Declarations>(sources: Sources, declarations: D): ReadResult<D> {
  const problems: string[] = [];
  const values = settingsOf(declarations, (setting) => {
    try {
      return valueIn(sources, setting);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(error.message);
      return undefined;
    }
  });
  return { values: problems.length === 0 ? values : undefined, problems };
}

class Problem extends Error {}

function valueIn({ environment, readFile }: Sources, setting: Setting): unknown {
  const { name, isSecret } = setting;
  const text = textOf(environment, name);
  const path = isSecret ? textOf(environment, fileVariable(name)) : undefined;
  if (path === undefined) {
    if (text === undefined) return setting.default;
    return parsed(setting, text, (wrong) => `${name} ${wrong}${isSecret ? '' : `: "${text}"`}.`);
  }
  if (text !== undefined) {
    throw new Problem(`${name} and ${fileVariable(name)} are both set; remove one of them.`);
  }
  const file = `The file ${path} that ${fileVariable(name)} names`;
  return parsed(setting, contentOf(path, file, readFile), (wrong) => `${file} holds what ${wrong}.`);
}

/** An empty variable is how compose files and the like say "not set". */
const textOf = (environment: Environment, name: string): string | undefined =>
  environment[name]?.trim() || undefined;

function contentOf(path: string, file: string, readFile: Sources['readFile']): string {
  let content: string;
  try {
    content = readFile(path).trim();
  } catch (error) {
    throw new Problem(`${file} cannot be read: ${(error as Error).message}.`);
  }
  if (content === '') throw new Problem(`${file} is empty.`);
  return content;
}

function parsed(setting: Setting, text: string, sentence: (wrong: string) => string): unknown {
  try {
    return setting.parse(text);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new Problem(sentence(error.message));
  }
}
