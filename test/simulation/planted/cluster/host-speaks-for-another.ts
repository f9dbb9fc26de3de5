import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'host-speaks-for-another',
  why: 'A host that no longer owns an actor promises that a call had no effect.',
  flavour: 'partitioned',
  from: 1348,
  edits: [
    {
      file: 'runtime/host/dispatcher.ts',
      find: '      throw this.#isOwnedStill(shard, epoch) ? error : withoutPromise(error);\n',
      replace:
        '      throw this.#isOwnedStill(shard, epoch) || epoch !== -1 ? error : withoutPromise(error);\n',
    },
  ],
};
