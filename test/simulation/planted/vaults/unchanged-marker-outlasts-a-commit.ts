import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'unchanged-marker-outlasts-a-commit',
  why: 'An owner who had nothing new when a member last asked is never read again, whatever is saved there.',
  flavour: 'vaults',
  from: 130,
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    this.#clearUnchangedMarker();\n',
      replace: '',
    },
  ],
};
