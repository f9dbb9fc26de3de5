import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'journaled-twice',
  why: 'A call of several turns that comes twice is written into the journal by both of its runs.',
  flavour: 'lane',
  from: 379,
  edits: [
    {
      file: 'actors/user/sync-lane/carry-out.ts',
      find: 'modern.saved_items.length > 0 && !isJournaled',
      replace: 'modern.saved_items.length > 0 && (!isJournaled || true)',
    },
  ],
};
