/** The pieces of SQL in the project's sources. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';

const root = new URL('../..', import.meta.url).pathname;
/** These use only our own PostgreSQL. */
const skipped = /\.test\.ts$|^process\/postgres\/|^process\/backup\/verify\.ts$/;

const sql =
  /(?<!-)\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|TRUNCATE|WITH|RETURNING|WHERE|JOIN|VALUES|ON CONFLICT|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|SET|SHOW|LISTEN|NOTIFY|DECLARE|FETCH|LOCK|DO)\b/;
const stringLiteral = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

export interface SourceLiteral {
  readonly file: string;
  /** With every run of white space as one blank. */
  readonly text: string;
}

export async function sqlLiterals(folders: readonly string[]): Promise<readonly SourceLiteral[]> {
  const files = (await Promise.all(folders.map(sourceFiles))).flat();
  return (await Promise.all(files.map(literalsOf))).flat();
}

async function sourceFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .filter((file) => !skipped.test(file));
}

/** The source without comments and types, with its templates as strings without their insertions. */
async function literalsOf(file: string): Promise<readonly SourceLiteral[]> {
  const { code } = await transform(await readFile(join(root, file), 'utf8'), {
    loader: 'ts',
    legalComments: 'none',
    supported: { 'template-literal': false },
  });
  return (code.match(stringLiteral) ?? [])
    .map((quoted) => ({ file, text: oneBlank(unquoted(quoted)) }))
    .filter(({ text }) => sql.test(text));
}

function unquoted(literal: string): string {
  return literal.slice(1, -1).replaceAll(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
}

export function oneBlank(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
