import { readdirSync } from 'node:fs';
import { importBuilt } from '../../kit/built.ts';
import type { PlantedBug } from '../plant.ts';

/** The folders of planted bugs, each named by what its bugs are in. */
const folders = {
  actors: '',
  cluster: 'cluster/',
  delivery: 'delivery/',
  vaults: 'vaults/',
  lane: 'lane/',
};
export type Planted = keyof typeof folders;
export const plantedOf = Object.keys(folders) as readonly Planted[];

/** Planted bugs in the order of their names, one file each. */
export async function plantedBugs(of: Planted): Promise<readonly PlantedBug[]> {
  const folder = new URL(`./${folders[of]}`, import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'mod.ts');
  const modules = await Promise.all(
    files
      .sort()
      .map((file) => importBuilt<{ bug: PlantedBug }>(`test/simulation/planted/${folders[of]}${file}`)),
  );
  return modules.map(({ bug }) => bug);
}
