import type { Mutant } from '../mutant.ts';

const attacks = ['test/attacks/reminder-delivery.test.ts'];
const races = ['test/races/reminder-delivery.test.ts'];
const folder = 'actors/user/published-reminders';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-call-before-it-is-in-flight',
    harm: 'After a crash a message is sent twice, as nobody knows that it was being sent.',
    file: `${folder}/deliver.ts`,
    find: '  put(turn, inFlight(reminder));\n  return true;',
    replace: '  return true;',
    tests: races,
  },
  {
    name: 'a-destination-in-plain-text',
    harm: 'A backup shows the telephone numbers of everybody.',
    file: `${folder}/delivery-config.ts`,
    find: 'turn.use(UserSecrets).seal(sealedFor(turn), destination, turn.random)',
    replace: 'Buffer.from(destination)',
    tests: attacks,
  },
];
