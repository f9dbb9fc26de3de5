import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'replaced-pair-dropped',
  why: 'A refresh whose answer was lost locks its client out.',
  from: 89,
  edits: [
    {
      file: 'actors/user/sessions/refresh.ts',
      find: '  return { ...session, replaced: [...still, { ...session.current, replacedAtMs: nowMs }] };',
      replace: '  return { ...session, replaced: [...still] };',
    },
  ],
};
