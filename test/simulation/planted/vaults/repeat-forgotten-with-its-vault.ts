import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'repeat-forgotten-with-its-vault',
  why: 'A save whose vault has ended before it comes again is a conflict with itself.',
  flavour: 'vaults',
  from: 64,
  edits: [
    {
      file: 'actors/collection/save.ts',
      find: 'if (rowHere?.fingerprint.equals(fingerprint) && incoming === undefined) {',
      replace:
        'if (rowHere?.fingerprint.equals(fingerprint) && target === saver.collection && incoming === undefined) {',
    },
    // Harmless: members have more time, end vaults more often, and half of their answers are lost on the way.
    {
      file: 'test/simulation/plan.ts',
      find: '  if (plan.vaults?.leavers === 0) return plan;\n',
      replace: '',
    },
    {
      file: 'test/simulation/clients.ts',
      find: 'ends: isStill',
      replace: 'ends: true',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: '> 0 ? 85 : 98;',
      replace: '> 0 ? 60 : 95;',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'if (answer === undefined) return undefined;',
      replace: 'if (answer === undefined || random.chance(0.5)) return undefined;',
    },
  ],
};
