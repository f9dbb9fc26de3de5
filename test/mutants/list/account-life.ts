import type { Mutant } from '../mutant.ts';

const trail = ['test/behaviour/accounts/audit-trail.test.ts'];
const administration = ['test/behaviour/accounts/administration.test.ts'];
const ended = ['test/attacks/ended-accounts.test.ts'];
const moved = ['test/attacks/moved-addresses.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-closed-door-that-opens',
    harm: 'An administrator has closed the registration, and strangers go on registering.',
    file: 'actors/user/account/register.ts',
    find: 'if (await isClosed(workflow)) return disabled;',
    replace: '',
    tests: administration,
  },
  {
    name: 'a-door-that-anybody-closes',
    harm: 'Any user opens or closes the registration of the whole server.',
    file: 'actors/user/admin/part.ts',
    find: 'if (!mayAdminister(turn, by)) return adminRequired;\n        return disabled === undefined',
    replace: 'return disabled === undefined',
    tests: administration,
  },
  {
    name: 'a-trail-for-every-program',
    harm: 'A program that may only read notes learns from where its user signs in.',
    file: 'actors/user/audit/part.ts',
    find: 'if (readonly) return { success: true, events: [], before: null };',
    replace: '',
    tests: trail,
  },
  {
    name: 'a-ban-that-spares-sessions',
    harm: 'The sockets of who was banned stay open, and every session is back with the end of the ban.',
    file: 'actors/user/sessions/part.ts',
    find: ', banned: endAllSessions }',
    replace: ' }',
    tests: ended,
  },
  {
    name: 'a-ban-that-a-sign-in-ends',
    harm: 'A banned user signs in again.',
    file: 'actors/user/account/open-session.ts',
    find: 'if (isBanned(turn)) {',
    replace: 'if (false) {',
    tests: ended,
  },
  {
    name: 'a-ban-that-a-bridge-passes',
    harm: 'A banned user goes on by a bridge token.',
    file: 'actors/user/bridge/part.ts',
    find: ' || isBanned(turn)',
    replace: '',
    tests: ended,
  },
  {
    name: 'users-who-ban',
    harm: 'Anybody bans anybody.',
    file: 'actors/user/admin/part.ts',
    find: '        if (!mayAdminister(turn, by)) return adminRequired;\n        const { data: ban }',
    replace: '        const { data: ban }',
    tests: administration,
  },
  {
    name: 'bridges-that-administer',
    harm: 'A stolen bridge token of an administrator tells who exists, and how mail goes out.',
    file: 'actors/user/roles.ts',
    find: 'isAdministrator(view) && !isBridge(session)',
    replace: 'isAdministrator(view) && session !== undefined',
    tests: ['test/attacks/administration.test.ts'],
    match: 'an administrator alone*',
  },
  {
    name: 'users-who-look-up',
    harm: 'Anybody learns which addresses have an account.',
    file: 'actors/user/admin/part.ts',
    find: '(mayAdminister(turn, by) ? account.rows[0]?.user_uuid : adminRequired)',
    replace: '(account.rows[0]?.user_uuid)',
    tests: administration,
  },
  {
    name: 'a-new-address-with-old-challenges',
    harm: 'An attacker with the password and the address to come gets past the second factor by being there first.',
    file: 'actors/user/account/change-credentials.ts',
    find: 'restartSignIns(turn);',
    replace: '',
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
];
