/** `docker compose` as its own reference describes it (`tools/compose/compose.ts`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import yaml from 'js-yaml';
import { composeReference } from '../../tools/compose/compose.ts';

interface ComposeCommand {
  /** Such as `exec`. */
  readonly name: string;
  readonly options: ReadonlyMap<string, string>;
  /** A service, and what runs in it. Or several services. */
  readonly args: readonly string[];
}

interface Reference {
  readonly options?: readonly {
    readonly option: string;
    readonly shorthand?: string;
    readonly value_type: string;
  }[];
}

function referenceOf(name: string): Reference {
  const text = readFileSync(join(composeReference(), `docker_compose_${name}.yaml`), 'utf8');
  return yaml.safeLoadAll(text)[0] as Reference;
}

/** @throws Error unless Compose has such a command with such options */
export function parsedCompose(line: string): ComposeCommand {
  const [docker, compose, name = '', ...words] = line.trim().split(/ +/);
  if (docker !== 'docker' || compose !== 'compose') throw new Error(`${line} is another command`);
  const known = referenceOf(name).options ?? [];
  const options = new Map<string, string>();
  while (words[0]?.startsWith('-')) {
    const word = words.shift() ?? '';
    const option = known.find((each) => word === `--${each.option}` || word === `-${each.shorthand}`);
    if (option === undefined) throw new Error(`${line}: Compose has no ${word}`);
    options.set(option.option, option.value_type === 'bool' ? 'true' : (words.shift() ?? ''));
  }
  return { name, options, args: words };
}
