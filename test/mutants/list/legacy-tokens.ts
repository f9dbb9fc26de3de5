import type { Mutant } from '../mutant.ts';

const legacy = ['test/behaviour/accounts/legacy.test.ts'];
const account = 'actors/user/account';

export const mutants: readonly Mutant[] = [
  {
    name: 'an-upgrade-undone',
    harm: 'A client is talked into the weaker keys of a former protocol.',
    file: account,
    find: 'const isWeaker = !hasSessions(version) && version < before && version !== revertsTo;',
    replace: 'const isWeaker = false;',
    tests: legacy,
    match: 'no other session takes an upgrade back*',
  },
  {
    name: 'legacy-tokens-that-outlive-their-hash',
    harm: 'A stolen token works on after an upgrade that kept the password.',
    file: account,
    find: ' || !hasSessions(profile.protocolVersion)) endAllSessions',
    replace: ') endAllSessions',
    tests: legacy,
    match: 'an upgrade to 004 with the same*',
  },
];
