import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'no-fence',
  why: "A commit is applied whatever epoch and version its actor's row has.",
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    return row !== undefined && row.epoch === epoch && row.version === version;',
      replace: '    return row !== undefined && (row.epoch !== epoch || row.version !== version || true);',
    },
  ],
};
