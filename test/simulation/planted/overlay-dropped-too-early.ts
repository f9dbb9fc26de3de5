import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'overlay-dropped-too-early',
  why: 'A row leaves memory with its commit though a read begun before is still to be used.',
  from: 45,
  edits: [
    {
      file: 'runtime/actor/rows.ts',
      find: '    if (entry.commit > oldestRead) this.#exceeds = true;',
      replace: '    if (entry.commit < 0) this.#exceeds = true;',
    },
  ],
};
