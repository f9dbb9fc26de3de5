import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'deleted-account-let-in',
  why: 'A user who asks to join and is deleted before being let in is a member for good.',
  flavour: 'vaults',
  from: 3_395,
  edits: [
    {
      file: 'actors/user/vaults/memberships.ts',
      find: "?.state !== 'left') turn.tell(Vault, uuid).userGone();",
      replace: "?.state === 'member') turn.tell(Vault, uuid).userGone();",
    },
  ],
};
