import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/assistant/pairing.test.ts'];
const attacks = ['test/attacks/pairing.test.ts'];
const complete = 'actors/pairing/complete.ts';
const records = 'actors/pairing/records.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'pairing-by-any-user',
    harm: 'Every user removes the pairings of the server, or pairs it with an account of their own.',
    file: 'actors/user/administered.ts',
    find: '(mayAdminister(turn, by) ? {} : adminRequired)',
    replace: '({})',
    tests: attacks,
    match: 'each row*',
  },
  {
    name: 'pairing-completed-by-another-administrator',
    harm: 'One administrator puts an account of their own under what another has started.',
    file: complete,
    find: '  if (by !== undefined && by !== attempt.startedBy) return ofAnother;\n',
    replace: '',
    tests: behaviour,
    match: 'a pairing is completed by hand*',
  },
  {
    name: 'pairing-mac-not-checked',
    harm: 'A writer of the database takes single pairings away, or puts old ones back, unseen.',
    file: records,
    find: 'mac === null ? !isEmpty : !seal.isMacOf(records, mac)',
    replace: 'mac === null && !isEmpty',
    tests: attacks,
    match: '*MAC*',
  },
  {
    name: 'pairing-redirects-followed',
    harm: 'Anyone who can redirect the token endpoint gets codes and refresh tokens.',
    file: 'actors/pairing/oauth.ts',
    find: '          answerBytesMax,\n          ...(signal',
    replace: '          answerBytesMax,\n          redirectsMax: 3,\n          ...(signal',
    tests: behaviour,
    match: '*redirect*',
  },
  {
    name: 'pairing-callback-in-a-frame',
    harm: 'Another site shows the page of a pairing as its own.',
    file: 'gateway/routes/pairing.ts',
    find: "    'X-Frame-Options': 'DENY',\n",
    replace: '',
    tests: behaviour,
    match: 'the callback is an inert page*',
  },
];
