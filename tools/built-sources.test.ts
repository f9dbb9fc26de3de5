import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { builtFile, compile } from './built-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));

test('built code is made from the sources as they are now', async (t) => {
  for (const source of ['main.ts', 'tools/built-sources.js', 'tools/built-sources.test.ts']) {
    const text = readFileSync(join(root, source), 'utf8');
    t.is(readFileSync(builtFile(source), 'utf8'), await compile(text, source), source);
  }
});

test('imports name built sources and packages', async (t) => {
  const imports = [
    "import { clock } from './clock.ts';",
    "import './effect.ts';",
    "export * from '../more.ts';",
    "import { z } from 'zod';",
    "export const late = () => import('./late.ts');",
    'export const used = [clock, z];',
  ];
  const built = await compile(imports.join('\n'), 'runtime/x.ts');
  const names = [...built.matchAll(/"([^"\n]+)"[;)]/g)].map(([, name]) => name);
  t.deepEqual(names.toSorted(), ['../more.js', './clock.js', './effect.js', './late.js', 'zod']);
});

test('a text that looks like an import stays as it is', async (t) => {
  const built = await compile("export const text = `\nimport './x.ts';\nfrom './y.ts'`;", 'runtime/x.ts');
  t.true(built.includes("import './x.ts';\nfrom './y.ts'"));
});

test('a built source passes for its source', async (t) => {
  const built = await compile('export default [import.meta.url, import.meta.dirname];', 'runtime/x.ts');
  t.regex(built, /"file:\/\/\/[^"]*\/runtime\/x\.ts"/);
  t.notRegex(built, /\.cache/);
});

test('a text that is no TypeScript throws where it is loaded', async (t) => {
  const built = await compile('export const x: = 1;', 'runtime/x.ts');
  await t.throwsAsync(import(`data:text/javascript,${encodeURIComponent(built)}`), {
    instanceOf: SyntaxError,
    message: /runtime\/x\.ts:1/,
  });
});
