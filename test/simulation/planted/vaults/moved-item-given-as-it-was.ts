import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'moved-item-given-as-it-was',
  why: 'A reader that has a moved item already is given what it was, and keeps that.',
  flavour: 'vaults',
  from: 8,
  edits: [
    {
      file: 'actors/collection/item.ts',
      find: "  succession: { of: 'uuid', by: 'hop' },\n",
      replace: '',
    },
    // Harmless, as a host that moves an item may die after any step, but there are two rows of it for longer.
    {
      file: 'actors/user/items/save-across-collections.ts',
      find: '  await finalizeAt(context, from, id, applied);\n',
      replace: '  if (applied.length === 0) await finalizeAt(context, from, id, applied);\n',
    },
    // So are members who have more time, less to suffer, begin anew more often and ask for less at once.
    {
      file: 'test/simulation/plan.ts',
      find: '    faults: random.chance(0.5) ? seldom(plan.faults) : plan.faults,\n    vaults',
      replace:
        '    faults: seldom(seldom(plan.faults)),\n    workMs: 28_000,\n    callsMax: 500,\n    vaults',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'if (drawn < 6) return this.#forget();',
      replace: 'if (drawn < 24) return this.#forget();',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'limit: random.pick([2, 5, 150])',
      replace: 'limit: random.pick([1, 2])',
    },
  ],
};
