import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'timers-not-loaded',
  why: 'An activation forgets the timers that were armed before it.',
  edits: [
    {
      file: 'runtime/actor/actor-state.ts',
      find: '    for (const timer of loaded.timers) this.timers.load(timer.name, timer);\n',
      replace: '',
    },
  ],
};
