import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'revision-lost-with-a-move',
  why: 'The last revision before an item moves is lost with the row that held it.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/collection/transfer.ts',
      find: 'if (target !== undefined && archiveRevision(turn, row)) isStored = true;',
      replace: '',
    },
  ],
};
