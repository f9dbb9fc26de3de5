import { readdirSync } from 'node:fs';
import type { PlantedBug } from '../plant.ts';

/** Every planted bug, in the order of their names. One file each. */
export async function plantedBugs(): Promise<readonly PlantedBug[]> {
  const files = readdirSync(new URL('.', import.meta.url)).filter((file) => file !== 'mod.ts');
  const modules = await Promise.all(files.sort().map((file) => import(new URL(file, import.meta.url).href)));
  return modules.map((module) => module.bug as PlantedBug);
}
