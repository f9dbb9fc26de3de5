import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'silence-taken-for-death',
  why: 'A supervisor gives up a process that stands still, and will go on.',
  flavour: 'sleepy',
  from: 4,
  edits: [
    {
      file: 'test/simulation/machines.ts',
      find: '    process.pause(suspended);\n',
      replace:
        '    process.pause(suspended);\n    this.#supervisors.died(run.machine.id, run.store.incarnation);\n',
    },
  ],
};
