import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'reply-before-commit',
  why: 'A reply leaves before the commit it rests on, so a crash takes back what a client was told.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    this.#held.overlay(recorded, commit);\n',
      replace: '    this.#held.overlay(recorded, commit);\n    this.#answer(entry, outcome);\n',
    },
  ],
};
