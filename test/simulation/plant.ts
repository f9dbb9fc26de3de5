/**
 * Planted bugs: small patches of the sources that break one promise each. The patched copy of everything the
 * simulator needs lies inside the project, so that it finds the same packages.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Flavour } from './plan.ts';
import type { simulate } from './world.ts';

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

type Simulate = typeof simulate;

const project = fileURLToPath(new URL('../../', import.meta.url));
const copied = ['runtime', 'actors', 'gateway', 'test/simulation', 'test/kit'];

/** The simulator over the unchanged sources, or over a copy with a planted bug. */
export async function simulatorOf(bug: PlantedBug | undefined): Promise<Simulate> {
  const root = bug === undefined ? project : plant(bug);
  const world = await import(pathToFileURL(join(root, 'test/simulation/world.ts')).href);
  return world.simulate;
}

/** Only for this process, so that two runs at once do not share one. */
const planted: string[] = [];

function removePlanted(): void {
  for (const root of planted) rmSync(root, { recursive: true, force: true });
}

/** @throws if a text to replace is not found exactly once: the source has changed, and the bug is gone. */
function plant({ name, edits }: PlantedBug): string {
  const root = join(project, '.cache/planted', `${name}-${process.pid}`);
  if (planted.length === 0) process.once('exit', removePlanted);
  planted.push(root);
  for (const folder of copied) {
    cpSync(join(project, folder), join(root, folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.ts'),
    });
  }
  for (const { file, find, replace } of edits) {
    const path = join(root, file);
    const parts = readFileSync(path, 'utf8').split(find);
    if (parts.length !== 2) throw new Error(`${name}: found ${parts.length - 1} times in ${file}: ${find}`);
    writeFileSync(path, parts.join(replace));
  }
  return root;
}
