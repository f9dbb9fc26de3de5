import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/mail/switches.test.ts'];
const folder = 'actors/user/switches';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-late-check-in-that-recalls-nothing',
    harm: 'A link is sent of somebody who has checked in.',
    file: `${folder}/part.ts`,
    find: '    recallMails(turn, before);\n    const after = checkedIn',
    replace: '    const after = checkedIn',
    tests: behaviour,
  },
  {
    name: 'an-outage-that-counts-as-silence',
    harm: 'After a week without power every switch fires, though nobody could check in.',
    file: `${folder}/switch.ts`,
    find: 'if (nowMs - dueMs <= lateMs) return 0;',
    replace: 'if (nowMs >= dueMs) return 0;',
    tests: behaviour,
  },
];
