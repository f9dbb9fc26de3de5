import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'mail-sent-before-commit',
  why: 'A message leaves before it is durable that it does, so after a crash it is sent once more.',
  flavour: 'delivery',
  edits: [
    {
      file: 'actors/mailer/deliver.ts',
      find: `    handOver: () =>
      run.turn({
        reads: (view) => leasedPlan(view, worker),
        turn: (turn, reads) => handOver(turn, worker, reads),
      }),
`,
      replace: `    handOver: async () =>
      void run
        .turn({
          reads: (view) => leasedPlan(view, worker),
          turn: (turn, reads) => handOver(turn, worker, reads),
        })
        .catch(() => {}),
`,
    },
  ],
};
