import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'timer-list-not-read',
  why: "A due row is run without a look at the actor's own list.",
  edits: [
    {
      file: 'runtime/delivery/timer-delivery.ts',
      find: "function run(handler: TimerHandler, row: TimerRow, nowMs: number, turn: RunningTurn, reads: object): Run {\n  if (!stands(turn, row)) return 'dropped';\n",
      replace:
        'function run(handler: TimerHandler, row: TimerRow, nowMs: number, turn: RunningTurn, reads: object): Run {\n',
    },
  ],
};
