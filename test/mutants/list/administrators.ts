import type { Mutant } from '../mutant.ts';

const administrators = ['test/attacks/administrators.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'administrators-of-any-workspace',
    harm: 'A user who makes a workspace of their own registers there as an administrator.',
    file: 'actors/user',
    find: '!hasMoved && workspace === defaultWorkspace && ',
    replace: '!hasMoved && ',
    tests: administrators,
    match: 'a listed address*',
  },
  {
    name: 'administrators-by-a-change-of-address',
    harm: 'A user who changes their address to a listed one is an administrator.',
    file: 'actors/user',
    find: '    turn.set(adminRoleSlice, { ...turn.get(adminRoleSlice), hasMoved: true });\n',
    replace: '',
    tests: administrators,
    match: 'changing to a listed address*',
  },
];
