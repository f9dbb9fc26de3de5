import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'activation-reads-before-barrier',
  why: 'The state is read before the barrier was answered, so the old owner may still commit.',
  flavour: 'crashy',
  from: 199,
  edits: [
    {
      file: 'runtime/actor/activation.ts',
      find: '  const activation = await store.activate(address, shard, epoch, create);\n',
      replace:
        '  const [slices, timers] = await Promise.all([store.slices(address), store.timers(address)]);\n  const activation = await store.activate(address, shard, epoch, create);\n',
    },
    {
      file: 'runtime/actor/activation.ts',
      find: 'return activation.outcome;\n  const [slices, timers] = await Promise.all([store.slices(address), store.timers(address)]);\n',
      replace: 'return activation.outcome;\n',
    },
  ],
};
