import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'message-sent-before-commit',
  why: 'A provider hears of a message before it is durable that it may, so after a crash it hears of it once more.',
  flavour: 'delivery',
  edits: [
    {
      file: 'actors/user/published-reminders/deliver.ts',
      find: 'const markInFlight = () => run.turn({ turn: (turn) => tryMarkInFlight(turn, claim) });',
      replace: `const markInFlight = async () => {
    void run.turn({ turn: (turn) => tryMarkInFlight(turn, claim) }).catch(() => {});
    return true;
  };`,
    },
  ],
};
