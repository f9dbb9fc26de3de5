import type { Mutant } from '../mutant.ts';

const tests = ['test/behaviour/items/revisions.test.ts'];
const file = 'actors/collection/revisions';

export const mutants: readonly Mutant[] = [
  {
    name: 'history-outlives-item',
    harm: 'What somebody deleted can still be read in the history.',
    file,
    find: '  for (const key of used) turn.remove(revision, key);\n',
    replace: '',
    tests,
    match: 'a deleted item has no history*',
  },
  {
    name: 'copies-of-what-others-own',
    harm: 'Who duplicates an item of a vault takes the history of its owner along.',
    file: 'actors/collection/revisions/copy.ts',
    find: 'target.deleted || target.owner_uuid !== original?.owner_uuid',
    replace: 'target.deleted',
    tests: ['test/behaviour/vaults/item-history.test.ts'],
    match: '*a duplicate gets*',
  },
  {
    name: 'deleted-revision-comes-back',
    harm: 'A revision that somebody has deleted is in the history again once its item is saved.',
    file: 'actors/collection/revisions/held.ts',
    find: 'const next = { ...row, revision_uuid: null, position: before.position + 1 };',
    replace: 'const next = { ...row, position: before.position + 1 };',
    tests,
    match: 'a revision that its item still holds is deleted*',
  },
];
