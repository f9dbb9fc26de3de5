import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'ended-start-goes-on',
  why: 'A host that was ended while it started goes on with its start.',
  flavour: 'sleepy',
  from: 129,
  edits: [
    {
      file: 'runtime/host/host.ts',
      find: '    this.#assertNotEnded();\n    this.#timers.start();',
      replace: '    this.#timers.start();',
    },
  ],
};
