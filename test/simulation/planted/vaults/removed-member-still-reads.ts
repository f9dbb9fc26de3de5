import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'removed-member-still-reads',
  why: 'A removed member is given what is saved after the removal.',
  flavour: 'vaults',
  from: 7,
  edits: [
    {
      file: 'test/kit/model-store/model-database.ts',
      find: '    return (owner) => members.get({ [ownerKey]: owner, [memberKey]: membership.member }) !== undefined;',
      replace:
        '    return (owner) => members.get({ [ownerKey]: owner, [memberKey]: membership.member }) !== undefined || true;',
    },
    // Harmless: members have more time and less to suffer.
    {
      file: 'test/simulation/plan.ts',
      find: '    faults: random.chance(0.5) ? seldom(plan.faults) : plan.faults,\n    vaults',
      replace:
        '    faults: seldom(seldom(plan.faults)),\n    workMs: 28_000,\n    callsMax: 500,\n    vaults',
    },
  ],
};
