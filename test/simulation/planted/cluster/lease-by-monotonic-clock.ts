import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'lease-by-monotonic-clock',
  why: 'A machine that slept takes its lease for valid.',
  flavour: 'sleepy',
  edits: [
    {
      file: 'runtime/ownership/lease.ts',
      find: ' &&\n      clock.nowMs() < this.#validUntilWallMs',
      replace: '',
    },
  ],
};
