import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'revision-of-what-came-after',
  why: 'The history says what the item says now, and what it said before is lost.',
  edits: [
    {
      file: 'actors/collection/revisions/keep.ts',
      find: 'archiveRevision(turn, replaced)',
      replace: 'archiveRevision(turn, { ...replaced, content: row.content })',
    },
  ],
};
