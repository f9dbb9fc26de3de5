import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'leave-of-any-incarnation',
  why: 'A supervisor that is late gives up the lease of the process that has followed.',
  flavour: 'crashy',
  from: 4,
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    if (lease?.incarnation !== incarnation) return;\n    const expiresAtMs',
      replace: "    if (lease === undefined || incarnation === '') return;\n    const expiresAtMs",
    },
  ],
};
