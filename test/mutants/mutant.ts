import { readdirSync } from 'node:fs';

/** A small wrong edit of the sources that some test has to notice. */
export interface Mutant {
  /** The harm it does, in a few words. */
  readonly name: string;
  /** Who suffers, and how. */
  readonly harm: string;
  /** The source it is made in; or a folder, in one of whose sources the text stands. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files of which one fails. None needs a browser. */
  readonly tests: readonly string[];
  /** Of those files the tests with such titles alone; `*` stands for anything. */
  readonly match?: string;
}

/** All of them, in the order of their names. */
export async function allMutants(): Promise<readonly Mutant[]> {
  const folder = new URL('./list/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder).href)));
  const mutants = modules.flatMap((module) => module.mutants as readonly Mutant[]);
  return mutants.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
