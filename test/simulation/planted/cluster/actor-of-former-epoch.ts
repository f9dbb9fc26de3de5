import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'actor-of-former-epoch',
  why: 'An actor that was activated under a former epoch goes on under the next.',
  flavour: 'cluster',
  from: 912,
  edits: [
    {
      file: 'runtime/actor/active-actors.ts',
      find: '      if (this.#options.epochOf(present.shard) !== present.epoch) throw movedError();\n',
      replace: '',
    },
  ],
};
