import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/sockets/vaults.test.ts'];
const audiences = ['gateway/sockets/audiences.test.ts'];
const attacks = ['test/attacks/vault-events.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-vault-that-strangers-hear',
    harm: 'Anyone who names a vault learns when its members work.',
    file: 'actors/vault/membership/members.ts',
    find: 'return row === undefined ? [] : [[each, row.membership] as const];',
    replace: 'return [[each, row?.membership ?? 1] as const];',
    tests: attacks,
  },
  {
    name: 'a-removed-member-who-hears',
    harm: 'A removed member goes on learning when the others work.',
    file: 'actors/vault/member-list.ts',
    find: "  turn.publish(Vault, { event: 'member-removed', userUuid: member, membership });\n",
    replace: '',
    tests: behaviour,
  },
  {
    name: 'an-answer-from-before',
    harm: 'A member removed while their socket opens hears the vault until it closes.',
    file: 'gateway/sockets/audiences.ts',
    find: 'if (listener === undefined || listener !== named.get(userUuid)) continue;',
    replace: 'if (listener === undefined) continue;',
    tests: audiences,
  },
];
