import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'tell-removal-in-flight-not-seen',
  why: 'A tell whose removal is at the gate is consumed again.',
  edits: [
    {
      file: 'runtime/actor/turn.ts',
      find: '        if (kept !== undefined) return kept.row === removed ? undefined : (kept.row as never);',
      replace: '        if (kept !== undefined && kept.row !== removed) return kept.row as never;',
    },
    {
      file: 'runtime/delivery/in-flight.ts',
      find: '    if (this.isFull || this.#keys.has(key)) return false;',
      replace: '    if (this.isFull) return false;',
    },
  ],
};
