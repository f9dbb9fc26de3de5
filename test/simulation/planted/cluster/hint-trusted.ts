import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'hint-trusted',
  why: 'What a hint says to be free is taken without asking the database.',
  flavour: 'cluster',
  from: 25,
  edits: [
    {
      file: 'runtime/ownership/ownership.ts',
      find: '    const isForAll = hint.hint ===',
      replace:
        "    if (hint.hint === 'freed') {\n      const epoch = Math.max(0, ...this.#epochs.values()) + 1;\n      this.#take({ shards: hint.shards.filter((shard) => this.#belongsHere(shard)), epoch });\n    }\n    const isForAll = hint.hint ===",
    },
  ],
};
