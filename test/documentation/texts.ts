/** The texts of the project: its documents, and the comments of its sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const sources = /\.(ts|mjs|js|go|proto|sql)$/;
const documents = /\.md$/;
/** By paths from the root: files that are fetched, made or kept here, and no part of the project. */
const notOurs = /^(?:node_modules|dist|\.git|\.cache|nats|data(?:-[^/.]*)?)$/;
const generated = 'proto/generated';

/** Whether the file or folder of this path from the root is part of the project. */
export const isOurs = (path: string): boolean => !notOurs.test(path);

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (!isOurs(path) || path === generated) continue;
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

const files = [...filesIn('')];
export const sourceFiles = files.filter((file) => sources.test(file));
export const documentFiles = files.filter((file) => documents.test(file));

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const block = /\/\*[\s\S]*?\*\//g;
const lines = /(?:^[ \t]*(?:\/\/|--)[^\n]*\n)+|[ \t]\/\/ [^\n]*/gm;
const margin = /^[ \t]*(?:\/\*+|\*\/|\*|\/\/|--)/gm;

/** The comments of a source, each as one line. */
export function commentsOf(file: string): readonly string[] {
  const text = textOf(file);
  return [...text.matchAll(block), ...text.matchAll(lines)].map(([comment]) =>
    comment.replace(/\*\/$/, '').replace(margin, '').replace(/\s+/g, ' ').trim(),
  );
}

export function headingsOf(file: string): readonly string[] {
  return [...withoutCode(textOf(file)).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.trim());
}

/** The anchor of a heading in a page of Markdown. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

export const withoutCode = (markdown: string): string => markdown.replace(fence, '');

const fence = /^ *```([\w-]*)\n([\s\S]*?)^ *```$/gm;

/** A line that looks like a title within a block is a comment. */
const fenceOrTitle = new RegExp(`${fence.source}|^#+ (.+)$`, 'gm');

export interface CodeBlock {
  readonly file: string;
  /** The title above it. */
  readonly section: string;
  readonly language: string;
  readonly text: string;
}

export function codeBlocksOf(file: string): readonly CodeBlock[] {
  let section = '';
  return [...textOf(file).matchAll(fenceOrTitle)].flatMap(([, language = '', text = '', title]) => {
    if (title === undefined) return [{ file, section, language, text }];
    section = title.trim();
    return [];
  });
}
