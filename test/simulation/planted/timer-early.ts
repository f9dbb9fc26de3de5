import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'timer-early',
  why: 'Due times are judged by asking for what falls due soon.',
  edits: [
    {
      file: 'runtime/timer-delivery.ts',
      find: '    const due = await store.dueTimers(this.#options.shards(), 0, nowMs, limit);',
      replace: '    const due = await store.dueTimers(this.#options.shards(), 0, nowMs + 200, limit);',
    },
  ],
};
