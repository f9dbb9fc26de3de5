import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'lapsed-host-listens',
  why: 'A host that has lost its lease answers "moved" sooner than the new owner replies, and its former users wait.',
  flavour: 'troubled',
  edits: [
    {
      file: 'runtime/ownership/ownership.ts',
      find: '    this.#options.transport.unroute(this.shards);\n',
      replace: '',
    },
    {
      file: 'runtime/ownership/ownership.ts',
      find: '    this.#options.transport.unroute(disputed);\n',
      replace: '',
    },
  ],
};
