import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'vault-token-skips-cut-page',
  why: 'What a page has no room for is never given.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/user/items/vault-pages.ts',
      find: '    cursors.push({ ...cursor, position });',
      replace: '    cursors.push({ ...cursor, position: found?.rows.at(-1)?.position ?? position });',
    },
  ],
};
