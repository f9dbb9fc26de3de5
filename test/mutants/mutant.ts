import { readdirSync } from 'node:fs';
import { importBuilt } from '../kit/built.ts';

/** A small wrong edit of the sources that some test must notice. */
export interface Mutant {
  /** The harm it does, in a few words. */
  readonly name: string;
  /** Who suffers, and how. */
  readonly harm: string;
  /** The file of the edit, or a folder with one file that contains the text. */
  readonly file: string;
  /** It occurs there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files, one of which fails. None needs a browser. */
  readonly tests: readonly string[];
  /** Only the tests in those files with such titles; `*` stands for anything. */
  readonly match?: string;
}

/** All of them, in the order of their names. */
export async function allMutants(): Promise<readonly Mutant[]> {
  const files = readdirSync(new URL('./list/', import.meta.url)).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(
    files.map((file) => importBuilt<{ mutants: readonly Mutant[] }>(`test/mutants/list/${file}`)),
  );
  const mutants = modules.flatMap((module) => module.mutants);
  return mutants.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
