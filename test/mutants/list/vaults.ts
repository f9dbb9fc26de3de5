import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/vaults/vaults.test.ts'];
const roles = ['test/behaviour/vaults/roles.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-vault-that-members-end',
    harm: 'Any member can take the vault from everybody.',
    file: 'actors/vault/membership/end.ts',
    find: '      if (!memberList.isOwner) return notTheOwner;\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'members-who-remove-each-other',
    harm: 'Any member throws out any other.',
    file: 'actors/vault/membership/members.ts',
    find: '    if (userUuid !== by && !memberList.isOwner) return notTheOwner;\n',
    replace: '',
    tests: roles,
  },
  {
    name: 'members-who-invite',
    harm: 'Any member lets others in.',
    file: 'actors/vault/membership/invites.ts',
    find: '    if (!memberList.isOwner) return notTheOwner;\n',
    replace: '',
    tests: roles,
  },
  {
    name: 'a-survivor-by-anybody',
    harm: 'A member who may only read makes themselves the survivor of the vault.',
    file: 'actors/vault/membership/members.ts',
    find: "    if (memberList.asker.permission !== 'admin') return notAnAdmin;\n",
    replace: '',
    tests: roles,
  },
  {
    name: 'a-member-who-stays',
    harm: 'A removed member goes on reading.',
    file: 'actors/vault/member-list.ts',
    find: '  turn.remove(memberTable, memberKey(turn, member));\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'any-invite-lets-in',
    harm: 'An invite that was replaced, with fewer rights, still counts.',
    file: 'actors/vault/membership/invites.ts',
    find: 'if (memberList === undefined || accepted?.uuid !== inviteUuid) return noSuchInvite;',
    replace: 'if (memberList === undefined || accepted === undefined) return noSuchInvite;',
    tests: behaviour,
  },
  {
    name: 'vaults-of-the-dead',
    harm: 'A deleted account stays a member, and its vaults stay without an owner.',
    file: 'actors/user/vaults/part.ts',
    find: "leaveSomeVaults(turn, leftAtOnce) ? 'more' : 'nothing'",
    replace: "'nothing'",
    tests: roles,
  },
];
