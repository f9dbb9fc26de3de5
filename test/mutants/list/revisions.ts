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
    name: 'history-without-bound',
    harm: 'An account fills the disk with revisions.',
    file,
    find: '  if (after.place - after.trimmed > turn.use(ItemSettings).revisions.bytesMax) return;\n',
    replace: '',
    tests,
    match: 'whatever is saved and deleted*',
  },
  {
    name: 'history-never-trimmed',
    harm: 'A full history stays as it is, and what is written from then on has none.',
    file,
    find: 'const cutPlace = ledger.place - bytesMax * leftShare;',
    replace: 'const cutPlace = 0 * bytesMax * leftShare;',
    tests,
    match: 'where an account has as many*',
  },
  {
    name: 'revision-of-reused-slot',
    harm: 'A client that asks for a revision gets, or deletes, another one.',
    file,
    find: 'return row?.uuid === uuid.toLowerCase() ? row : undefined;',
    replace: 'return row;',
    tests,
    match: 'what is another*',
  },
  {
    name: 'bridge-deletes-history',
    harm: 'A read-only session or a bridge destroys the history of notes.',
    file: 'actors/user/revisions/shapes.ts',
    find: "access: 'writes'",
    replace: "access: 'reads'",
    tests,
    match: 'a read-only session and a bridge*',
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
];
