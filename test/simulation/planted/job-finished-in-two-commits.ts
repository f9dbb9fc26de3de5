import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-finished-in-two-commits',
  why: "A job's result and the end of its row are two commits: a crash between them does it twice.",
  edits: [
    {
      file: 'runtime/jobs/jobs.ts',
      find: '        if (next === undefined) turn.disarm(row);\n        else turn.keepTimer(next);\n        step?.turn(turn, reads as never);\n      });\n',
      replace:
        '        step?.turn(turn, reads as never);\n        if (next !== undefined) turn.keepTimer(next);\n      });\n      await this.#try(held, (turn, row) => turn.disarm(row));\n',
    },
  ],
};
