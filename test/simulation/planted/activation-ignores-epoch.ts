import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'activation-ignores-epoch',
  why: 'An older owner may activate an actor that a newer one holds.',
  flavour: 'crashy',
  from: 64,
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: "    if (row !== undefined && row.epoch > epoch) return { outcome: 'fenced' };\n",
      replace: '',
    },
    {
      file: 'test/kit/model-store/model-database.ts',
      find: "    if (isFormerOwner) return { outcome: 'fenced' };\n",
      replace: '',
    },
  ],
};
