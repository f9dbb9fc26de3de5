/**
 * Tests load every source as JavaScript that is built once, and again after the source has changed. A loader that
 * compiles each module while Node.js resolves imports costs more CPU time than the tests of most files.
 *
 * A folder below `.cache/built` mirrors the folders of the project. A built file passes itself off as its source:
 * `import.meta.url`, `dirname` and `filename` name the source, so that it finds what is read beside it. Imports name
 * the built files.
 *
 * This is a script because AVA's configuration imports it without any loader.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const hash = (content) => createHash('sha256').update(content).digest('base64url').slice(0, 16);

/** The sources of this folder only: a chroot shows the same folder under another path. */
const ownFolder = join(root, '.cache/built', hash(root));
/** Set for the workers of a test run, which need not look for changes, and for trials of patched sources. */
const givenFolder = process.env.BUILT_SOURCES;
const isGiven = givenFolder?.startsWith(join(root, '.cache/')) === true;
/** Where the built files are. */
export const builtFolder = isGiven ? givenFolder : ownFolder;
const manifestFile = join(builtFolder, 'manifest.json');

/** The built file of a source. Paths of sources begin at the root of the project. */
export function builtFile(source, folder = builtFolder) {
  return join(folder, source.replace(/\.ts$/, '.js'));
}

/** Builds what has changed since any process called this last, unless somebody has built it for this process. */
export async function buildSources() {
  if (isGiven) return;
  const before = readManifest();
  const now = readSources();
  const isChanged = ([source, { fingerprint }]) => before[source] !== fingerprint;
  const changed = [...now].filter(isChanged);
  const removed = Object.keys(before).filter((source) => !now.has(source));
  if (changed.length + removed.length === 0) return;
  for (const source of removed) rmSync(builtFile(source), { force: true });
  await Promise.all(
    changed.map(async ([source, { text }]) => writeWhole(builtFile(source), await compile(text, source))),
  );
  const manifest = [...now].map(([source, { fingerprint }]) => [source, fingerprint]);
  writeWhole(manifestFile, JSON.stringify(Object.fromEntries(manifest)));
}

/** The JavaScript of a source with this text. A text that is no TypeScript throws where it is loaded, not here. */
export async function compile(text, source) {
  const { transform } = await import('esbuild');
  const path = join(root, source);
  try {
    const { code } = await transform(text, {
      loader: source.endsWith('.ts') ? 'ts' : 'js',
      format: 'esm',
      target: 'node20',
      sourcefile: path,
      sourcemap: 'inline',
      sourcesContent: false,
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      define: {
        'import.meta.url': JSON.stringify(pathToFileURL(path).href),
        'import.meta.dirname': JSON.stringify(dirname(path)),
        'import.meta.filename': JSON.stringify(path),
      },
    });
    return withBuiltImports(code);
  } catch (error) {
    return `throw new SyntaxError(${JSON.stringify(error.message)});\n`;
  }
}

/** esbuild writes every import in one of these two forms. Strings that contain one have other quotes. */
function withBuiltImports(code) {
  return code
    .replace(/^((?:import|export) (?:[\w$*,{}\s]+ from )?"\.[^"\n]*)\.ts";$/gm, '$1.js";')
    .replace(/(\bimport\("\.[^"\n]*)\.ts"\)/g, '$1.js")');
}

const foldersWithoutSources = /^(\..*|node_modules|dist|data.*)$/;

/** Their texts, and fingerprints that change with the text and with the compiler. */
function readSources() {
  const { version } = createRequire(import.meta.filename)('esbuild/package.json');
  const compiler = hash(readFileSync(import.meta.filename, 'utf8') + version);
  const sources = new Map();
  const visit = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!foldersWithoutSources.test(entry.name)) visit(path);
      } else if (/(?<!\.d)\.(ts|js)$/.test(path)) {
        const text = readFileSync(join(root, path), 'utf8');
        sources.set(path, { text, fingerprint: hash(compiler + text) });
      }
    }
  };
  visit('');
  return sources;
}

function readManifest() {
  return existsSync(manifestFile) ? JSON.parse(readFileSync(manifestFile, 'utf8')) : {};
}

/** Renames it into place, because other processes may load or build the same file at the same time. */
function writeWhole(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const written = `${file}.${process.pid}`;
  writeFileSync(written, text);
  renameSync(written, file);
}
