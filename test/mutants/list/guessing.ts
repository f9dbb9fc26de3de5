import type { Mutant } from '../mutant.ts';

const attack = ['test/attacks/sign-in.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'strangers-that-are-not-counted-together',
    harm: 'Anyone who has many networks guesses without end.',
    file: 'actors/signin',
    find: "if (origin.isStranger && turn.nowMs < nextAttemptMs(currentStrangers(turn), limits)) return 'locked';",
    replace: '',
    tests: attack,
    match: 'the guesses of all*',
  },
  {
    name: 'owners-that-count-as-strangers',
    harm: 'Strangers who guess keep the owner out of the account.',
    file: 'actors/signin',
    find: 'isStranger: ipAddress === null || !isKnown(turn, key)',
    replace: 'isStranger: true',
    tests: attack,
    match: 'the guesses of all*',
  },
  {
    name: 'strangers-freed-by-the-owner',
    harm: 'Every sign-in of the owner gives those who guess their attempts back.',
    file: 'actors/signin',
    find: '// Failures of strangers stay. Otherwise each sign-in of the owner would clear them.\n  if (isStranger && strangers.count > 0) {',
    replace: 'turn.set(strangersSlice, noStrangers);\n  if (isStranger && false) {',
    tests: attack,
    match: 'a right password gives*',
  },
  {
    name: 'any-cookie-a-device',
    harm: 'Anyone who makes up a cookie guesses without end.',
    file: 'actors/signin',
    find: 'devices.find((key) => isKnown(turn, key))',
    replace: 'devices.find((key) => key !== undefined)',
    tests: attack,
    match: 'a made-up cookie*',
  },
];
