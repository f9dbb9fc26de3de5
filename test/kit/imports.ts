/** Finds which file of the project imports which, from their text. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const folders = [
  ...['runtime', 'actors', 'gateway', 'operations', 'cli', 'process'],
  ...['test', 'tools', 'benchmarks', 'load-tests'],
];

interface Import {
  /** The path of a file in the project; otherwise as written in the source. */
  readonly of: string;
  /** Loaded together with the file: neither an import of types nor a dynamic one. */
  readonly isLoaded: boolean;
}

export type Imports = ReadonlyMap<string, readonly Import[]>;

/** For every file, by its path below the root. */
export async function readImports(): Promise<Imports> {
  const files = [
    ...(await sourcesOf('.', false)),
    ...(await Promise.all(folders.map((folder) => sourcesOf(folder)))).flat(),
  ];
  const read = files.map(
    async (file) => [file, importsOf(file, await readFile(join(root, file), 'utf8'))] as const,
  );
  return new Map(await Promise.all(read));
}

async function sourcesOf(folder: string, recursive = true): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const statement = /^(?:import|export) (type )?(?:[\w*{][^';]*?from )?'([^']+)'/gm;
const call = /\bimport\('([^']+)'\)/g;

function importsOf(file: string, text: string): readonly Import[] {
  const resolved = (specifier: string) =>
    specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
  return [
    ...[...text.matchAll(statement)].map(([, type, of = '']) => ({
      of: resolved(of),
      isLoaded: type === undefined,
    })),
    ...[...text.matchAll(call)].map(([, of = '']) => ({ of: resolved(of), isLoaded: false })),
  ];
}

/** The files that import each other in a circle, and those that lie between circles. */
export function circlesOf(imports: Imports): readonly string[] {
  const left = new Map([...imports].map(([file, list]) => [file, new Set(list.map(({ of }) => of))]));
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const imported = new Set([...left.values()].flatMap((targets) => [...targets]));
    for (const [file, targets] of left) {
      if (!imported.has(file) || ![...targets].some((target) => left.has(target))) left.delete(file);
    }
  }
  return [...left.keys()].sort();
}

/** All files that are loaded with a file, itself included. */
export function loadedWith(file: string, imports: Imports): ReadonlySet<string> {
  const loaded = new Set([file]);
  for (const each of loaded) {
    for (const { of, isLoaded } of imports.get(each) ?? []) if (isLoaded) loaded.add(of);
  }
  return loaded;
}
