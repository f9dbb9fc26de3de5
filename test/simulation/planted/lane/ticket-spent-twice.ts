import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'ticket-spent-twice',
  why: 'A ticket that one socket has spent lets in another.',
  flavour: 'lane',
  edits: [
    {
      file: 'actors/user/sync-lane/memory.ts',
      find: '    if (claim !== undefined) return claim.by === by;',
      replace: '    if (claim !== undefined) return true;',
    },
  ],
};
