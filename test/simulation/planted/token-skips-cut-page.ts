import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'token-skips-cut-page',
  why: 'A page that was cut gives the token of the head.',
  edits: [
    {
      file: 'actors/collection/sync-steps.ts',
      find: '  return { page, saved: [], conflicts: [], end: page.reached, head: now };',
      replace: '  return { page, saved: [], conflicts: [], end: now.position, head: now };',
    },
  ],
};
