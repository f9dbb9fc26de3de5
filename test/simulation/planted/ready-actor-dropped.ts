import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'ready-actor-dropped',
  why: 'An actor that does not fit into a batch is not ready any more, and its commit is never sent.',
  from: 18,
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: 'if (members.length > 0 && bytes + actor.pendingBytes > batchBytesMax) continue;',
      replace:
        'if (members.length > 0 && bytes + actor.pendingBytes > batchBytesMax) {\n        this.#ready.delete(actor);\n        continue;\n      }',
    },
  ],
};
