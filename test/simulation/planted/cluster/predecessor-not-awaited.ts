import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'predecessor-not-awaited',
  why: 'A host takes over from a predecessor of its name that may still answer from memory.',
  flavour: 'sleepy',
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    if (isAnother && heldForMs >= 0 && !isPredecessorDead) return Math.max(1, heldForMs);\n',
      replace:
        '    if (isAnother && heldForMs >= leaseMs && !isPredecessorDead) return Math.max(1, heldForMs);\n',
    },
  ],
};
