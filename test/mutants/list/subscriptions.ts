import type { Mutant } from '../mutant.ts';

const tokens = ['test/behaviour/accounts/subscription-tokens.test.ts'];
const invites = ['test/behaviour/accounts/subscription-invites.test.ts'];
const races = ['test/races/subscription-invites.test.ts'];
const requests = ['test/behaviour/accounts/requests.test.ts'];
const premium = ['test/behaviour/accounts/premium.test.ts'];
const readOnly = ['test/behaviour/accounts/read-only.test.ts'];
const folder = 'actors/user/subscription';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-subscription-token-without-end',
    harm: 'A token that was seen once shows an account for ever.',
    file: `${folder}/tokens.ts`,
    find: ' && view.nowMs < claims.endsSeconds * 1_000',
    replace: '',
    tests: tokens,
  },
  {
    name: 'a-subscription-token-that-outlives-the-password',
    harm: 'Who changes a password after a theft is still watched.',
    file: `${folder}/tokens.ts`,
    find: "state === 'active' && credentialsVersion === claims.credentialsVersion",
    replace: "state === 'active'",
    tests: tokens,
  },
  {
    name: 'a-subscription-token-that-anyone-makes',
    harm: 'Whoever knows a uuid reads the e-mail address of its account.',
    file: 'actors/identity/subscription-tokens.ts',
    find: 'if (!equalInConstantTime(mac, macOf(signed))) return undefined;',
    replace: "if (signed === '' || mac === macOf('')) return undefined;",
    tests: tokens,
  },
  {
    name: 'tokens-mailed-without-a-limit',
    harm: 'Anyone fills the mailbox of an account.',
    file: 'actors/signin/mail-token.ts',
    find: '        if (full !== undefined) return full;\n',
    replace: '',
    tests: tokens,
  },
  {
    name: 'an-invite-that-anybody-accepts',
    harm: 'Whoever learns the uuid of an invite takes the place of the invited.',
    file: `${folder}/invites.ts`,
    find: "if (invite.status === 'sent' ? invite.invitee !== email : !isTheirs) return {};",
    replace: "if (invite.status !== 'sent' && !isTheirs) return {};",
    tests: invites,
  },
  {
    name: 'invites-without-a-day',
    harm: 'Whoever cancels and invites again sends mail to strangers without end.',
    file: `${folder}/invites.ts`,
    find: '    if (today.length >= invitesPerDayMax) return tooManyToday;\n',
    replace: '',
    tests: invites,
  },
  {
    name: 'a-mail-of-a-cancelled-invite',
    harm: 'Somebody is invited to what is there no more.',
    file: `${folder}/invites.ts`,
    find: '  if (invite.inviteeUuid === null) recallInvite(turn, inviteUuid);\n  else',
    replace: '  if (invite.inviteeUuid !== null)',
    tests: invites,
  },
  {
    name: 'an-inviter-who-tells-nobody-of-the-end',
    harm: 'An account says for ever that it shares what is gone.',
    file: 'actors/user/account/delete-account.ts',
    find: '  forgetInvites(turn);\n',
    replace: '',
    tests: invites,
  },
  {
    name: 'a-guest-who-is-deleted-in-between',
    harm: 'The place of somebody who is gone stays taken.',
    file: 'actors/user/account/delete-account.ts',
    find: '  leaveShares(turn);\n',
    replace: '',
    tests: [...invites, ...races],
  },
  {
    name: 'an-export-without-end',
    harm: 'A link that was seen once is good for ever.',
    file: 'actors/user/requests/export.ts',
    find: 'return made !== null && view.nowMs < made.createdAtMs + exportAgeMs ? made : undefined;',
    replace: 'return made ?? undefined;',
    tests: requests,
  },
  {
    name: 'exports-fetched-without-a-limit',
    harm: 'One session keeps the database reading a whole account.',
    file: 'actors/user/requests/export.ts',
    find: '    if (wanted.downloads >= downloadsPerExport) return tooMany;\n',
    replace: '',
    tests: requests,
  },
  {
    name: 'many-downloads-at-a-time',
    harm: 'One session reads its whole account many times at once.',
    file: 'actors/user/requests/export.ts',
    find: 'current?.uuid === downloadUuid && view.nowMs < current.beganAtMs + downloadAgeMs',
    replace: 'current != null && downloadUuid.length > 0 && view.nowMs < current.beganAtMs + downloadAgeMs',
    tests: requests,
  },
  {
    name: 'premium-on-every-server',
    harm: 'Anyone changes the subscription of anyone.',
    file: 'gateway/routes/conformance.ts',
    find: '  if (!settings.endToEndTesting) return [];\n',
    replace: '',
    tests: premium,
  },
  {
    name: 'an-invite-sent-by-a-reader',
    harm: 'A bridge that may only read sends mail in the name of the account.',
    file: `${folder}/shapes.ts`,
    find: "  createInvite: signedIn({\n    access: 'writes',",
    replace: "  createInvite: signedIn({\n    access: 'reads',",
    tests: readOnly,
  },
];
