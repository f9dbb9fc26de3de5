/**
 * Planted bugs: small patches of the sources that break one promise each. The patched copy of everything that the
 * simulator needs, as built, lies inside the project, so that it finds the same packages.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtFile, compile } from '../../tools/built-sources.js';
import { importBuilt } from '../kit/built.ts';
import type { Flavour } from './plan.ts';

export interface PlantedBug {
  readonly name: string;
  /** Why it is a bug: the promise that no longer holds. */
  readonly why: string;
  /** The mix of faults in which it shows soon. */
  readonly flavour?: Flavour;
  /** The first seed to try, if it takes many to show. */
  readonly from?: number;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}

type World = typeof import('./world.ts');

const project = fileURLToPath(new URL('../../', import.meta.url));
const copied = ['runtime', 'actors', 'gateway', 'test/simulation', 'test/kit'];

/** The simulator over the unchanged sources, or over a copy with a planted bug. */
export async function simulatorOf(bug: PlantedBug | undefined): Promise<World['simulate']> {
  const world: World =
    bug === undefined
      ? await importBuilt('test/simulation/world.ts')
      : await import(pathToFileURL(builtFile('test/simulation/world.ts', await plant(bug))).href);
  return world.simulate;
}

/** Only for this process, so that two runs at once do not share one. */
const planted: string[] = [];

function removePlanted(): void {
  for (const root of planted) rmSync(root, { recursive: true, force: true });
}

/** @throws if a text to replace is not found exactly once: the source has changed, and the bug is gone. */
async function plant({ name, edits }: PlantedBug): Promise<string> {
  const root = join(project, '.cache/planted', `${name}-${process.pid}`);
  if (planted.length === 0) process.once('exit', removePlanted);
  planted.push(root);
  for (const folder of copied) {
    cpSync(builtFile(folder), join(root, folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.js'),
    });
  }
  const texts = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const parts = (texts.get(file) ?? readFileSync(join(project, file), 'utf8')).split(find);
    if (parts.length !== 2) throw new Error(`${name}: found ${parts.length - 1} times in ${file}: ${find}`);
    texts.set(file, parts.join(replace));
  }
  for (const [file, text] of texts) {
    writeFileSync(builtFile(file, root), await compile(text, file));
  }
  return root;
}
