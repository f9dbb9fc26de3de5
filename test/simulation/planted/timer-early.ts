import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'timer-early',
  why: 'Due times are judged by asking for what falls due soon.',
  edits: [
    {
      file: 'runtime/delivery/timer-delivery.ts',
      find: '    return this.options.store.dueTimers(sweep);',
      replace: '    return this.options.store.dueTimers({ ...sweep, untilMs: sweep.untilMs + 200 });',
    },
  ],
};
