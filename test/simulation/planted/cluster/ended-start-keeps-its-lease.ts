import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'ended-start-keeps-its-lease',
  why: 'A host that is to end while it starts leaves its lease behind: its shards stay unserved until that ends.',
  flavour: 'planned',
  from: 2_300_757,
  edits: [
    {
      file: 'runtime/host/host.ts',
      find: "    if (this.#state === 'draining' || this.#state === 'ended') return this.abandon();\n",
      replace: "    if (this.#state !== 'serving') return this.abandon();\n",
    },
  ],
};
