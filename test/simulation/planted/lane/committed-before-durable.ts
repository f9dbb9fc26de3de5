import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'committed-before-durable',
  why: 'A command that is held is told as committed, before anything of it is durable.',
  flavour: 'lane',
  from: 182,
  edits: [
    {
      file: 'actors/user/sync-lane/carry-out.ts',
      find: "      return { status: isHeld ? 'accepted' : 'unknown' };",
      replace: "      return { status: isHeld ? 'committed' : 'unknown' };",
    },
  ],
};
