import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'uncertain-message-repeated',
  why: 'A message that a dead process had in flight is sent again, though its provider may have it.',
  flavour: 'delivery',
  from: 16,
  edits: [
    {
      file: 'actors/user/published-reminders/deliver.ts',
      find: "if (each.state === 'in-flight') putReminder(turn, uncertain(each));",
      replace: "if (each.state === 'in-flight') putReminder(turn, { ...each, state: 'claimed' });",
    },
  ],
};
