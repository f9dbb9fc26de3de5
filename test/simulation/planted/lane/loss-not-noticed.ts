import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'loss-not-noticed',
  why: 'A gateway that has lost the last events of a host never finds out, and its sockets miss what was saved.',
  flavour: 'lane',
  edits: [
    {
      file: 'runtime/events/repairs.ts',
      find: '    if (first === last) return;',
      replace: '    if (first === last || last >= 0) return;',
    },
    {
      file: 'runtime/events/repairs.ts',
      find: '    if (last >= sequence) return;',
      replace: '    if (last >= sequence || last >= 0) return;',
    },
  ],
};
