import type { Mutant } from '../mutant.ts';

const tests = ['test/behaviour/operations/internal-api.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'validation-without-a-session',
    harm: 'Anyone who asks the internal API takes a revoked session for a living one.',
    file: 'operations/sessions.ts',
    find: "if ('refused' in answer) return refusal(answer.refused);",
    replace: "if ('refused' in answer) return refusal(invalidAuth);",
    tests,
    match: 'a caller without a living*',
  },
  {
    name: 'a-reader-who-is-told-to-write',
    harm: 'Other parts of the server let a read-only session write.',
    file: 'operations/sessions.ts',
    find: 'readOnly: ok.readonly',
    replace: 'readOnly: !ok.readonly',
    tests,
    match: 'a caller with a living*',
  },
  {
    name: 'callers-without-a-certificate',
    harm: 'Anyone who reaches the port operates the cluster.',
    file: 'operations/access.ts',
    find: 'pairs, clientCa !== undefined)',
    replace: 'pairs, false)',
    tests: ['test/behaviour/operations/tls.test.ts'],
  },
  {
    name: 'settings-of-any-name-as-flags',
    harm: 'An operator or an administrator takes the second factor of a user away, as if it were a flag.',
    file: 'actors/user/admin/flags.ts',
    find: 'const name = flagNames.find((each) => each === given.toUpperCase());',
    replace: 'const name = given.toUpperCase() as FlagName;',
    tests: ['test/behaviour/operations/administration.test.ts'],
    match: 'a flag that is none*',
  },
];
