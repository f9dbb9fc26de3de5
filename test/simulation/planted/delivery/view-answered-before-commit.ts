import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'view-answered-before-commit',
  why: 'A one-time share is given before that is durable, so after a crash it is given to another reader too.',
  flavour: 'delivery',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    this.#held.overlay(recorded, commit);\n',
      replace:
        "    this.#held.overlay(recorded, commit);\n    if (this.address.kind === 'share') this.#answer(entry, outcome);\n",
    },
  ],
};
