import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'wake-before-commit',
  why: 'A tell is announced as soon as its turn has run.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    const pending = this.#gate.launch(commitId);\n',
      replace:
        '    const pending = this.#gate.launch(commitId);\n    this.#env.tellsCommitted(pending.tellRows(this.#version + 1));\n',
    },
  ],
};
