import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'lease-not-checked-after-read',
  why: 'A read that took longer than the lease is answered all the same.',
  flavour: 'sleepy',
  from: 260,
  edits: [
    {
      file: 'runtime/host/dispatcher.ts',
      find: '      this.#assertLease();\n    }\n    metrics.turn',
      replace: '    }\n    metrics.turn',
    },
  ],
};
