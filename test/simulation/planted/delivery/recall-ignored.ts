import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'recall-ignored',
  why: 'A mail that is recalled before it arrives at the queue is sent when it does.',
  flavour: 'delivery',
  edits: [
    {
      file: 'actors/mailer/queue.ts',
      find: '    writeMail(turn, undefined, tombstoneOf(turn, recalled));\n',
      replace: '',
    },
  ],
};
