import type { Mutant } from '../mutant.ts';

const rules = ['actors/collection/vault-rules.test.ts'];
const items = ['test/behaviour/vaults/items.test.ts'];
const removed = ['test/behaviour/vaults/items-removed.test.ts'];
const ended = ['test/behaviour/vaults/ended.test.ts'];
const history = ['test/behaviour/vaults/item-history.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-reader-who-saves',
    harm: 'A read-only member changes the items of the vault.',
    file: 'actors/collection/vault-rules.ts',
    find: "  if (permission === 'read') return insufficient;\n",
    replace: '',
    tests: rules,
  },
  {
    name: 'items-taken-out-by-anybody',
    harm: 'A member takes the items of others out of the vault.',
    file: 'actors/collection/vault-rules.ts',
    find: '  if (isForOwner && !isOwner) return insufficient;\n',
    replace: '',
    tests: rules,
  },
  {
    name: 'strangers-who-save',
    harm: 'A user who is no member saves in the vault.',
    file: 'actors/vault/items/save-items.ts',
    find: '(member.get(memberKey(turn, saver.by))?.permission ?? null) as',
    replace: "(member.get(memberKey(turn, saver.by))?.permission ?? 'write') as",
    tests: items,
  },
  {
    name: 'the-version-before-the-membership',
    harm: 'A stranger is shown what the vault has of an item.',
    file: 'actors/collection/save.ts',
    find: '  return isMember ? undefined : notMember(sent, saver.userUuid);\n',
    replace: '  return undefined;\n',
    tests: items,
  },
  {
    name: 'a-removal-forgotten-in-a-crash',
    harm: 'Where the host dies in the wrong moment, members keep an item that is not theirs any more.',
    file: 'actors/vault/items/part.ts',
    find: 'leave({ turn, id, reads })',
    replace: 'leave({ turn, id, reads: { ...reads, members: { ...reads.members, rows: [] } } })',
    tests: removed,
  },
  {
    name: 'items-lost-with-their-vault',
    harm: 'The end of a vault takes from its members what was theirs.',
    file: 'actors/vault/items/part.ts',
    find: '(turn) => turn.start(VaultItems.jobs.returnToOwners, null)',
    replace: '() => undefined',
    tests: ended,
  },
  {
    name: 'a-history-for-strangers',
    harm: 'A user who is no member reads what was in the vault.',
    file: 'actors/vault/items/revisions.ts',
    find: 'return member.get(memberKey(view, query.by)) && ((each) => each);',
    replace: 'return (each) => each;',
    tests: history,
  },
  {
    name: 'item-of-a-vault-for-who-was-removed',
    harm: 'Somebody who was removed goes on to read the vault, item by item.',
    file: 'actors/vault/items/get-item.ts',
    find: "view.get(statusSlice) === 'open' && member.get(memberKey(view, by)) !== undefined",
    replace: "view.get(statusSlice) === 'open'",
    tests: ['test/behaviour/vaults/items.test.ts'],
    match: 'an item that a user owns in a vault*',
  },
];
