import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'token-skips-cut-page',
  why: 'A page that was cut gives the token of the head.',
  edits: [
    {
      file: 'actors/collection/sync-steps.ts',
      find: '  end: page.reached,',
      replace: '  end: view.get(head).position,',
    },
  ],
};
