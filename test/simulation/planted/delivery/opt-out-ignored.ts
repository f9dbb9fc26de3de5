import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'opt-out-ignored',
  why: 'A user who opts out is told that nothing leaves any more while a message is about to.',
  flavour: 'delivery',
  from: 58,
  edits: [
    {
      file: 'actors/user/published-reminders/publish.ts',
      find: "state === 'in-flight') ? beingSent : all(turn)",
      replace: "state === 'in-flight') ? all(turn) : all(turn)",
    },
    {
      file: 'actors/user/published-reminders/publish.ts',
      find: 'if (reminders.some(isInFlight)) {',
      replace: 'if (reminders.some(() => false)) {',
    },
  ],
};
