import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'lease-from-the-answer',
  why: 'The lease counts from when the renewal was answered.',
  flavour: 'sleepy',
  edits: [
    {
      file: 'runtime/ownership/lease.ts',
      find: '    this.#validUntilMonotonicMs = sentMonotonicMs + usableMs;\n    this.#validUntilWallMs = sentWallMs + usableMs;',
      replace:
        '    void sentMonotonicMs;\n    void sentWallMs;\n    this.#validUntilMonotonicMs = clock.monotonicMs() + usableMs;\n    this.#validUntilWallMs = clock.nowMs() + usableMs;',
    },
  ],
};
