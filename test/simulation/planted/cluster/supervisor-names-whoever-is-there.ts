import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'supervisor-names-whoever-is-there',
  why: 'A supervisor gives up whatever incarnation its node has by then.',
  flavour: 'crashy',
  from: 4,
  edits: [
    {
      file: 'test/simulation/supervisors.ts',
      find: '.leave(machine, incarnation);',
      replace:
        '.leave(machine, database.nodes().find(({ id }) => id === machine)?.incarnation ?? incarnation);',
    },
  ],
};
