import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'own-uuid-told-as-taken',
  why: 'A new item whose uuid the saver’s own collection holds is told as another’s.',
  edits: [
    {
      file: 'actors/collection/save.ts',
      find: 'if (stored !== undefined && mine === undefined) {',
      replace: 'if (stored !== undefined && (mine === undefined || sent.updated_at_timestamp === 0)) {',
    },
  ],
};
