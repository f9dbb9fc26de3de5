import type { Mutant } from '../mutant.ts';

const attacks = ['test/attacks/calendars.test.ts'];
const dav = ['test/behaviour/calendar/dav.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'document-types-are-read',
    harm: 'A body of XML may bring entities of its own.',
    file: 'gateway/dav/xml.ts',
    find: "  parser.on('doctype', () => refuse('a document type'));\n",
    replace: '',
    tests: attacks,
  },
  {
    name: 'any-secret-of-a-remembered-token',
    harm: 'Once a token was found right, another secret is as good for a minute.',
    file: 'actors/identity/calendar-tokens.ts',
    find: 'known !== undefined && nowMs < known.untilMs && equalInConstantTime(secretHash, known.secretHash)',
    replace: 'known !== undefined && nowMs < known.untilMs && secretHash !== undefined',
    tests: ['test/attacks/calendars.test.ts'],
  },
  {
    name: 'calendars-of-others',
    harm: 'A program is answered at the paths of somebody else.',
    file: 'gateway/routes/dav.ts',
    find: 'userUuid.toLowerCase() !== program.userUuid) return foreign;',
    replace: 'userUuid === program.ctag) return foreign;',
    tests: dav,
  },
  {
    name: 'wrong-calendar-tokens-are-free',
    harm: 'The secret of a token is guessed without end.',
    file: 'actors/signin/counted-attempt.ts',
    find: '  debitAttempt(turn, origin);\n',
    replace: '',
    tests: attacks,
  },
  {
    name: 'tokens-that-are-gone-cost-nothing',
    harm: 'The time of an answer tells whether a calendar token is there.',
    file: 'actors/signin/prove-calendar-token.ts',
    find: '    const key = keyOfStranger(device.ipAddress);',
    replace: '    if (!named?.salt) return wrong;\n    const key = keyOfStranger(device.ipAddress);',
    tests: ['test/behaviour/calendar/dav.test.ts'],
    match: 'a token that is not there*',
  },
];
