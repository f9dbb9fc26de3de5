import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'unknown-settled-by-read',
  why: 'The outcome of a lost commit is settled by a read, after which it may still be applied.',
  edits: [
    {
      file: 'runtime/commit/settlement.ts',
      find: '  const row = await store.barrier(address, epoch);',
      replace: '  const row = await store.head(address);',
    },
  ],
};
