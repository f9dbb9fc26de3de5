import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'lease-not-checked',
  why: 'A host answers from memory after its lease has lapsed.',
  flavour: 'sleepy',
  edits: [
    {
      file: 'runtime/ownership/lease.ts',
      find: '      clock.monotonicMs() < this.#validUntilMonotonicMs &&\n      clock.nowMs() < this.#validUntilWallMs',
      replace: '      clock.nowMs() > 0',
    },
  ],
};
