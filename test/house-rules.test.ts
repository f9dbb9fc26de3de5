/** House rules that no linter knows (design section 3). */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';

const root = new URL('..', import.meta.url).pathname;

/** Where the real clock and the real random source are made into ports, and a library's setting is set. */
const portFiles = new Set(['runtime/clock.ts', 'runtime/random.ts', 'gateway/http/uws.ts', 'cli/main.ts']);

async function sources(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

for (const folder of ['runtime', 'actors', 'gateway', 'operations', 'cli']) {
  test(`no file of ${folder} takes time, chance or settings from anywhere but its ports`, async (t) => {
    const files = (await sources(folder)).filter((file) => !portFiles.has(file));
    t.true(files.length > 5);
    for (const file of files) {
      const text = await readFile(join(root, file), 'utf8');
      t.notRegex(text, /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.env\b/, file);
    }
  });
}
