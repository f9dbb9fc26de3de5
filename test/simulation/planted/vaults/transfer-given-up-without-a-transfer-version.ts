import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'transfer-given-up-without-a-transfer-version',
  why: 'An item that arrives late is in two collections.',
  flavour: 'vaults',
  from: 25,
  edits: [
    {
      file: 'actors/collection/transfer.ts',
      find: '  position: position + 1,\n  hop: transferVersionOf(row) + 1,',
      replace: '  position: position + 1,\n  hop: row.hop,',
    },
    // Harmless by itself, as no time-out has to be long enough, but more often an arrival comes late.
    {
      file: 'actors/transfer.ts',
      find: 'const finalizedAfterMs = 30_000;',
      replace: 'const finalizedAfterMs = 5;',
    },
  ],
};
