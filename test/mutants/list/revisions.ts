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
    harm: 'A member who duplicates an item of a vault takes the history of its owner along.',
    file: 'actors/collection/revisions/copy.ts',
    find: 'target.deleted || target.owner_uuid !== original?.owner_uuid',
    replace: 'target.deleted',
    tests: ['test/behaviour/vaults/item-history.test.ts'],
    match: '*a duplicate gets*',
  },
];
