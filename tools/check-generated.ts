/** Says whether `proto/generated` is what `npm run proto` would write there now; exits with 1 if it is not. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join('proto', 'generated');

function filesOf(base: string): ReadonlyMap<string, string> {
  const entries = readdirSync(base, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [relative(base, path), readFileSync(path, 'utf8')]));
}

function generate(into: string): void {
  const args = ['generate', '--template', 'proto/buf.gen.yaml', '--output', into];
  const { status, error } = spawnSync('node_modules/.bin/buf', args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`buf generate ended with ${status}`);
}

const fresh = mkdtempSync(join(tmpdir(), 'scriptorium-proto-'));
try {
  generate(fresh);
  const wanted = filesOf(join(fresh, folder));
  const present = filesOf(join(root, folder));
  const all = new Set([...wanted.keys(), ...present.keys()]);
  const stale = [...all].filter((path) => wanted.get(path) !== present.get(path));
  for (const path of stale) console.log(`${join(folder, path)} is not what the contracts say: npm run proto`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
