import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'copy-runs-at-the-next-owner',
  why: 'A late copy of a call runs at the next owner, and the one before has promised that nothing took effect.',
  flavour: 'cluster',
  from: 13,
  edits: [
    {
      file: 'runtime/transport/owner-epochs.ts',
      find: 'named === undefined || named === own',
      replace: 'named !== 0',
    },
    // Harmless, as a message may be as slow as that. Only copies for others than the owner are.
    {
      file: 'test/simulation/endpoint.ts',
      find: 'target.#arrived(this, token, call, remainingMs));\n',
      replace: 'target.#arrived(this, token, call, remainingMs), target === targets[0] ? 0 : 2_500);\n',
    },
    // So are mailboxes that are soon full.
    {
      file: 'test/simulation/plan.ts',
      find: '      ...limitsOf(random),\n',
      replace: '      ...limitsOf(random),\n      mailboxMax: 2,\n',
    },
  ],
};
