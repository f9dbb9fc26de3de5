import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'versions-begin-anew',
  why: 'An actor whose row was removed begins with versions it had before: a commit from then finds them.',
  from: 10,
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    this.#versionFloor = Math.max(this.#versionFloor, row.version + 1);',
      replace: '    this.#versionFloor = Math.min(this.#versionFloor, row.version + 1);',
    },
  ],
};
