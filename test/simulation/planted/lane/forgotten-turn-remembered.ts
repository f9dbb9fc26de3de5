import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'forgotten-turn-remembered',
  why: 'The answer of a turn that has to run again is remembered: a repeat gets a token that was never durable.',
  flavour: 'lane',
  from: 23,
  edits: [
    {
      file: 'actors/user/sync-lane/carry-out.ts',
      find: '      const isIdle = turn.get(head) === before;\n',
      replace:
        '      const isIdle = turn.get(head) === before;\n      if (isIdle) begun.memory.remember(begun.key, entryOf(identity.digest, request, modern));\n',
    },
  ],
};
