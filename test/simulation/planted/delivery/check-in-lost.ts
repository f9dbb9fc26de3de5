import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'check-in-lost',
  why: 'What became of the mail of an earlier deadline is written over a check-in that came meanwhile.',
  flavour: 'delivery',
  from: 49,
  edits: [
    {
      file: 'actors/user/switches/watch.ts',
      find: "const before = schedule.find(turn, uuid, round);\n  if (before?.state !== 'queued')",
      replace: 'const before = turn.entry(switchMap, uuid);\n  if (before === undefined || round === 0)',
    },
  ],
};
