import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'read-tickets-never-ended',
  why: 'Rows are kept for reads that were used long ago.',
  edits: [
    {
      file: 'runtime/actor/mailbox.ts',
      find: '    if (entry.reads?.ticket !== undefined) this.#options.rows.end(entry.reads.ticket);',
      replace: '    void entry;',
    },
  ],
};
