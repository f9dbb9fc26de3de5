import type { Mutant } from '../mutant.ts';

const trail = ['test/behaviour/accounts/audit-trail.test.ts'];
const administration = ['test/behaviour/accounts/administration.test.ts'];
const ended = ['test/attacks/ended-accounts.test.ts'];
const bans = ['test/races/bans.test.ts'];
const moved = ['test/attacks/moved-addresses.test.ts'];
const notices = ['test/behaviour/accounts/notices.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-trail-that-a-loop-pushes-out',
    harm: 'A stranger guesses a thousand times, and the owner no longer sees who got in.',
    file: 'actors/user/audit/trail.ts',
    find: "if (earlier.event === 'sign-in-failed')",
    replace: "if (earlier.event === 'registered')",
    tests: trail,
  },
  {
    name: 'a-trail-that-patience-pushes-out',
    harm: 'A stranger guesses once an hour, and after weeks the owner no longer sees who got in.',
    file: 'actors/user/audit/trail.ts',
    find: 'return sinceMs < sameFailureMs;',
    replace: 'return sinceMs < sameEventMs;',
    tests: ['test/attacks/audit-trail.test.ts'],
  },
  {
    name: 'a-trail-without-end',
    harm: 'The trail of a busy account grows for ever.',
    file: 'actors/user/audit/trail.ts',
    find: 'const slot = trail.pages % auditPagesMax;',
    replace: 'const slot = trail.pages;',
    tests: trail,
  },
  {
    name: 'a-trail-that-stays-behind',
    harm: 'Addresses of a person stay in the database after the account was deleted.',
    file: 'actors/user/audit/trail.ts',
    find: 'for (const key of slotKeys(turn)) turn.remove(auditPageTable, key);',
    replace: '',
    tests: trail,
  },
  {
    name: 'a-trail-for-every-program',
    harm: 'A program that may only read notes learns from where its user signs in.',
    file: 'actors/user/audit/commands.ts',
    find: 'if (readonly) return { success: true, events: [], before: null };',
    replace: '',
    tests: trail,
  },
  {
    name: 'a-ban-that-spares-sessions',
    harm: 'The sockets of who was banned stay open, and every session is back with the end of the ban.',
    file: 'actors/user/account/set-ban.ts',
    find: '  endAllSessions(turn);\n',
    replace: '',
    tests: ended,
  },
  {
    name: 'a-ban-that-a-sign-in-ends',
    harm: 'Who was banned signs in again.',
    file: 'actors/user/account/open-session.ts',
    find: 'if (isBanned(turn)) {',
    replace: 'if (false) {',
    tests: ended,
  },
  {
    name: 'a-ban-that-a-bridge-passes',
    harm: 'Who was banned goes on by a bridge token.',
    file: 'actors/user/bridge/bridge-tokens.ts',
    find: ' || isBanned(turn)',
    replace: '',
    tests: ended,
  },
  {
    name: 'a-ban-that-recovery-passes',
    harm: 'What was left for a recovery is handed out while the account is banned.',
    file: 'actors/user/factors/escrow.ts',
    find: ' || isBanned(view)',
    replace: '',
    tests: ended,
  },
  {
    name: 'administrators-who-ban-in-a-circle',
    harm: 'Administrators who fall out leave the server without any.',
    file: 'actors/user/account/set-ban.ts',
    find: 'if (turn.nowMs < turn.get(banningSlice))',
    replace: 'if (turn.nowMs < 0)',
    tests: bans,
  },
  {
    name: 'users-who-ban',
    harm: 'Anybody bans anybody.',
    file: 'actors/user/admin/commands.ts',
    find: '        if (!isAdministrator(turn)) return adminRequired;\n        if (banned',
    replace: '        if (banned',
    tests: administration,
  },
  {
    name: 'users-who-look-up',
    harm: 'Anybody learns which addresses have an account.',
    file: 'actors/user/admin/commands.ts',
    find: '(isAdministrator(turn) ? account.rows[0]?.user_uuid : adminRequired)',
    replace: '(account.rows[0]?.user_uuid)',
    tests: administration,
  },
  {
    name: 'a-new-address-with-old-challenges',
    harm: 'Who knows the password and the address to come gets past the second factor by being there first.',
    file: 'actors/user/account/change-credentials.ts',
    find: '.forgetChallenges();',
    replace: ';',
    tests: moved,
  },
  {
    name: 'an-old-address-with-approvals',
    harm: 'An approval that was given to one account passes the factor of the next one at its address.',
    file: 'actors/signin/expiry.ts',
    find: 'challengeMap, approvalMap, assertionChallengeMap]',
    replace: 'challengeMap, assertionChallengeMap]',
    tests: moved,
  },
  {
    name: 'a-move-in-silence',
    harm: 'An account is taken away by a change of its address, and its owner hears nothing.',
    file: 'actors/user/account/change-credentials.ts',
    find: '    noteMove(turn, profile.email);\n',
    replace: '',
    tests: notices,
  },
  {
    name: 'mails-that-cannot-be-muted',
    harm: 'Who has muted mails about sign-ins gets them all the same.',
    file: 'actors/user/notices.ts',
    find: "if (settingValue(turn, 'MUTE_SIGN_IN_EMAILS') === 'muted') return;",
    replace: '',
    tests: notices,
  },
];
