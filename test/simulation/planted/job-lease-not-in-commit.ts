import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-lease-not-in-commit',
  why: "A job's row is kept in memory alone: nobody knows of the job once its host has died.",
  edits: [
    {
      file: 'runtime/actor/gate.ts',
      find: '    for (const [name, timer] of this.timers) writes.push(',
      replace:
        "    for (const [name, timer] of this.timers)\n      if (!name.startsWith('$job.')) writes.push(",
    },
  ],
};
