import type { Mutant } from '../mutant.ts';

const account = ['test/import/account.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-half-imported-account-that-opens',
    harm: 'A user signs in while an import goes on, and takes the part that is there for the whole.',
    file: 'actors/user/import/account.ts',
    find: 'password_hash: closedHash,\n    // A new version',
    replace: 'password_hash: given.passwordHash,\n    // A new version',
    tests: account,
  },
  {
    name: 'an-import-over-a-living-account',
    harm: 'A later pass writes the state of the old server over what a user has saved here since.',
    file: 'actors/user/import/account.ts',
    find: "if (phase === 'used') return 'used';",
    replace: '',
    tests: account,
  },
  {
    name: 'an-import-over-a-native-account',
    harm: 'A row of another server with the uuid of an account of this one takes the account over.',
    file: 'actors/user/import/account.ts',
    find: "if (state === 'active' && phase === 'none') return 'native';",
    replace: '',
    tests: account,
  },
  {
    name: 'an-imported-address-that-shows',
    harm: 'A stranger learns by the time of an answer which addresses have accounts that were imported.',
    file: 'actors/identity/password-hasher.ts',
    find: 'if (imported === undefined && !importedLeft) return isOwn;',
    replace: 'if (imported === undefined) return isOwn;',
    tests: ['actors/identity/password-hasher.test.ts'],
  },
  {
    name: 'a-factor-lost-on-the-way',
    harm: 'An account whose second factor could not be read is open to anyone with its password.',
    file: 'cli/import/accounts.ts',
    find: "locked ||= context.withoutKey !== 'drop';",
    replace: '',
    tests: account,
  },
];
