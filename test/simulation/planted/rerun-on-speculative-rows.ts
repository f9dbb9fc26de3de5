import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'rerun-on-speculative-rows',
  why: 'Turns run again on rows that never became durable.',
  edits: [
    {
      file: 'runtime/actor/actor-state.ts',
      find: '    this.rows.revert(this.durableCommit);\n',
      replace: '',
    },
  ],
};
