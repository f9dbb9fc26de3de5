import type { Mutant } from '../mutant.ts';

const tokens = ['test/behaviour/accounts/subscription-tokens.test.ts'];
const invites = ['test/behaviour/accounts/subscription-invites.test.ts'];
const requests = ['test/behaviour/accounts/requests.test.ts'];
const folder = 'actors/user/subscription';

export const mutants: readonly Mutant[] = [
  {
    name: 'a-subscription-token-that-anyone-makes',
    harm: 'Anyone who knows a uuid reads the e-mail address of its account.',
    file: 'actors/identity/subscription-tokens.ts',
    find: 'if (!equalInConstantTime(mac, macOf(signed))) return undefined;',
    replace: "if (signed === '' || mac === macOf('')) return undefined;",
    tests: tokens,
  },
  {
    name: 'an-invite-that-anybody-accepts',
    harm: 'Anyone who learns the uuid of an invite takes the place of the invited.',
    file: `${folder}/invites.ts`,
    find: "if (invite.status === 'sent' ? invite.invitee !== email : !isTheirs) return {};",
    replace: "if (invite.status !== 'sent' && !isTheirs) return {};",
    tests: invites,
  },
  {
    name: 'an-export-without-end',
    harm: 'A link that was seen once is good for ever.',
    file: 'actors/user/requests/part.ts',
    find: 'return made !== null && view.nowMs < made.createdAtMs + exportAgeMs ? made : undefined;',
    replace: 'return made ?? undefined;',
    tests: requests,
  },
];
