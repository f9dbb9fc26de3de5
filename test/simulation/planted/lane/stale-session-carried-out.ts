import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'stale-session-carried-out',
  why: 'A command over a socket whose tokens were replaced is carried out.',
  flavour: 'lane',
  edits: [
    {
      file: 'actors/user/sessions/session.ts',
      find: "  if (status === 'replaced' || !accessIsFresh",
      replace: "  if ((status === 'replaced' && credentials.style !== 'lane') || !accessIsFresh",
    },
  ],
};
