/** Checks that the targets of documents and comments are in this repository. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { createLogger } from '../../process/logger.ts';
import {
  anchorOf,
  commentsOf,
  documentFiles,
  headingsOf,
  root,
  sourceFiles,
  textOf,
  withoutCode,
} from './texts.ts';

const exists = (path: string): boolean => existsSync(join(root, path));

/** Documents from before the project's own, and the project's tracker. */
const outside = [
  /(?<![\w/])(?:design|auth|sync|extensions|field-notes|examples)\.md\b/,
  /\bdesign (?:section )?\d/,
  /\(spec\b|\bspec, /,
  /\bissue #?\d/i,
];

test('no comment and no document cites what is not in the repository', (t) => {
  const cites = (text: string, patterns: readonly RegExp[]) =>
    patterns.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
  const inComments = sourceFiles.flatMap((file) =>
    commentsOf(file).flatMap((comment) => cites(comment, outside).map((cited) => `${file}: ${cited}`)),
  );
  // In documents a file name stands for the file beside them, which a later test looks for.
  const inDocuments = documentFiles.flatMap((file) =>
    cites(textOf(file), outside.slice(1)).map((cited) => `${file}: ${cited}`),
  );
  t.deepEqual([...inComments, ...inDocuments], []);
});

const citation =
  /((?:docs\/[\w/.-]+|load-tests\/README|README|CONTRIBUTING|SECURITY|CHANGELOG)\.md)((?:(?:, | and )"[^"]+")*)/g;

/** The citations of a comment whose document or section is missing. */
function missingIn(comment: string): readonly string[] {
  return [...comment.matchAll(citation)].flatMap(([, path = '', titles = '']) => {
    if (!exists(path)) return [path];
    const known = headingsOf(path);
    const cited = [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title);
    return cited.filter((title) => !known.includes(title)).map((title) => `${path}, "${title}"`);
  });
}

test('the documents and sections that comments cite exist', (t) => {
  const missing = sourceFiles.flatMap((file) =>
    commentsOf(file).flatMap((comment) => missingIn(comment).map((cited) => `${file}: ${cited}`)),
  );
  t.deepEqual(missing, []);
});

const filePath = /(?<![\w/.@*<-])((?:[\w-]+\/)*[\w.-]+\.(?:ts|mjs|go|sql|proto|md))(?![\w*])/g;
/** Examples, or files that tests make. */
const examples = new Set(['x.test.ts', 'file.test.ts', 'path/to/file.test.ts']);

/** Relative to the root, or to the naming file. */
const isThere = (path: string, from: string): boolean => exists(path) || exists(join(dirname(from), path));

test('the files that comments name exist', (t) => {
  const missing = sourceFiles.flatMap((file) =>
    commentsOf(file)
      .flatMap((comment) => [...comment.matchAll(filePath)].map(([, path = '']) => path))
      .filter((path) => !examples.has(path) && !isThere(path, file))
      .map((path) => `${file}: ${path}`),
  );
  t.deepEqual(missing, []);
});

function leadsSomewhere(target: string, from: string): boolean {
  if (/^https?:/.test(target)) return true;
  const [path = '', anchor] = target.split('#');
  const page = path === '' ? from : normalize(join(dirname(from), path));
  if (!exists(page)) return false;
  return anchor === undefined || headingsOf(page).map(anchorOf).includes(anchor);
}

test('links of documents lead somewhere', (t) => {
  const broken = documentFiles.flatMap((file) =>
    [...withoutCode(textOf(file)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !leadsSomewhere(target, file))
      .map((target) => `${file}: ${target}`),
  );
  t.deepEqual(broken, []);
});

/** Patterns, and files that building, running or measuring the project makes. */
const made = /^(?:dist|data|data-\d|nats)\/|[<*…]/;
const inFolders =
  /^(?:actors|cli|config|docs|gateway|helm|benchmarks|load-tests|operations|process|proto|runtime|test|tools)\/[\w/.-]*$/;
const isFile = /^[\w./-]+\.(?:ts|mjs|sql|md)$/;

test('the files and folders that documents name exist', (t) => {
  const missing = documentFiles.flatMap((file) =>
    [...withoutCode(textOf(file)).matchAll(/`([^`\n]+)`/g)]
      .map(([, span = '']) => span)
      .filter(
        (span) => (inFolders.test(span) || isFile.test(span)) && !made.test(span) && !examples.has(span),
      )
      .filter((path) => !isThere(path, file))
      .map((path) => `${file}: ${path}`),
  );
  t.deepEqual(missing, []);
});

const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Readonly<Record<string, string>> };

test('the scripts and programs that documents tell to run exist', (t) => {
  const missing = documentFiles.flatMap((file) => {
    const text = textOf(file);
    const mentioned = [...text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)].map(
      ([, script = '']) => script,
    );
    const programs = [...text.matchAll(/(?:npx ava|node --import=tsx)((?: [\w/.-]+\.ts)+)/g)]
      .flatMap(([, paths = '']) => paths.trim().split(' '))
      .filter((path) => !examples.has(path));
    return [
      ...mentioned.filter((script) => !(script in scripts)).map((script) => `${file}: npm run ${script}`),
      ...programs.filter((path) => !exists(path)).map((path) => `${file}: ${path}`),
    ];
  });
  t.deepEqual(missing, []);
});

test('the metrics to alert on exist', (t) => {
  const known = new Set([...textOf('docs/metrics.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name));
  const named = [...textOf('docs/alerts.md').matchAll(/`(scriptorium(?:_[a-z]+)+)\b/g)].map(
    ([, name]) => name,
  );
  t.true(named.length > 30);
  t.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

test('the filter for fail2ban finds the line of a failed sign-in, and its address', (t) => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', node: 'here' }, { write: (line) => void lines.push(line) });
  logger.warn({ clientAddress: '2001:db8::7' }, 'a sign-in failed');
  const [, expression = ''] = /^failregex = (.+)$/m.exec(textOf('docs/operations.md')) ?? [];
  const [, address] = new RegExp(expression.replace('<ADDR>', '(.+)')).exec(lines[0] ?? '') ?? [];
  t.is(address, '2001:db8::7');
});

test('decisions are numbered without a hole, in name and title, and the list has each', (t) => {
  const folder = 'docs/decisions';
  const records = documentFiles.filter((file) => /^docs\/decisions\/\d{4}-/.test(file)).sort();
  t.true(records.length > 40);
  const list = textOf(`${folder}/README.md`);
  for (const [index, file] of records.entries()) {
    t.true(file.startsWith(`${folder}/${String(index + 1).padStart(4, '0')}-`), file);
    t.true(textOf(file).startsWith(`# ${index + 1}. `), file);
    t.true(list.includes(`](${file.slice(folder.length + 1)})`), file);
  }
});
