import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'stuck-sent-along',
  why: 'An actor whose commits are never finished takes others along every time.',
  flavour: 'sticky',
  from: 45,
  edits: [
    {
      file: 'runtime/commit/committer.ts',
      find: '    const isUnbatched = this.#stuck.has(actor);',
      replace: '    const isUnbatched = this.#stuck.has(actor) && actor.waiting < 0;',
    },
  ],
};
