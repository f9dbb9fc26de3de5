import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'unknown-too-early',
  why: 'A command that was accepted and may still be carried out is told as unknown.',
  flavour: 'lane',
  from: 182,
  edits: [
    {
      file: 'actors/user/sync-lane/carry-out.ts',
      find: "      return { status: isHeld ? 'accepted' : 'unknown' };",
      replace: "      return { status: isHeld && false ? 'accepted' : 'unknown' };",
    },
  ],
};
