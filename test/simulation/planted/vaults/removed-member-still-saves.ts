import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'removed-member-still-saves',
  why: 'A removed member goes on saving in the vault.',
  flavour: 'vaults',
  edits: [
    {
      file: 'actors/vault/items/save-items.ts',
      find: '(reads.member.get(memberKey(turn, saver.by))?.permission ?? null) as',
      replace: "(reads.member.get(memberKey(turn, saver.by))?.permission ?? 'write') as",
    },
  ],
};
