import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'own-uuid-told-as-taken',
  why: 'A new item whose uuid the saver’s own collection holds is told as another’s.',
  edits: [
    {
      file: 'actors/collection/save.ts',
      find: '  const refused = access(saver, sent, rowHere);\n',
      replace:
        "  if (stored !== undefined && sent.updated_at_timestamp === 0) return conflict(refusal('uuid_conflict', sent, saver.userUuid));\n  const refused = access(saver, sent, rowHere);\n",
    },
  ],
};
