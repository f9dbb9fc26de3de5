import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'read-slot-leaked',
  why: 'A batch of reads that fails keeps its slot for ever.',
  edits: [
    {
      file: 'runtime/read/reader.ts',
      find: '      for (const { reject } of waiting) reject(error);',
      replace: '      this.#inFlight += 1;\n      for (const { reject } of waiting) reject(error);',
    },
  ],
};
