import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'tell-removal-in-flight-not-seen',
  why: 'A tell whose removal is at the gate is consumed again.',
  edits: [
    {
      file: 'runtime/actor/turn.ts',
      find: '        if (cached !== undefined) return cached.row === removed ? undefined : (cached.row as never);',
      replace: '        if (cached !== undefined && cached.row !== removed) return cached.row as never;',
    },
    {
      file: 'runtime/delivery/in-flight.ts',
      find: '    if (this.isFull || this.#keys.has(key)) return false;',
      replace: '    if (this.isFull) return false;',
    },
  ],
};
