import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'leaving-shard-served',
  why: 'A shard that is on its way out is served until it is gone.',
  flavour: 'cluster',
  edits: [
    {
      file: 'runtime/ownership/ownership.ts',
      find: '    return this.#epochs.get(shard);\n',
      replace: '    return this.#epochs.get(shard) ?? this.#handOver.epochOf(shard);\n',
    },
    {
      file: 'runtime/ownership/hand-over.ts',
      find: '  has(shard: number): boolean {',
      replace:
        '  epochOf(shard: number): number | undefined {\n    return this.#leaving.get(shard);\n  }\n\n  has(shard: number): boolean {',
    },
  ],
};
