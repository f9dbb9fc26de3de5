import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/files/vaults.test.ts'];
const moves = ['test/behaviour/files/vault-moves.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'removed-member-keeps-files',
    harm: 'A removed member still reads the files of a vault with a token in hand.',
    file: 'actors/vault/files/access.ts',
    find: 'if (!isForHere || asker === undefined || isVoid(view, claims)) return invalidToken;',
    replace:
      'if (!isForHere || isVoid(view, claims)) return invalidToken;\n  if (asker === undefined) return undefined;',
    tests: behaviour,
    match: 'tokens in hand are worth nothing once the member is removed*',
  },
  {
    name: 'reader-writes-to-vault',
    harm: 'A member who may only read now still replaces files.',
    file: 'actors/vault/files/access.ts',
    find: "return claims.operation === 'read' || asker.mayWrite ? undefined : invalidToken;",
    replace: "return claims.operation === 'read' || asker !== undefined ? undefined : invalidToken;",
    tests: behaviour,
    match: 'a member whose permission has become less*',
  },
  {
    name: 'account-token-in-vault',
    harm: 'A token is good for what it was not made for.',
    file: 'gateway/routes/files.ts',
    find: "(claims.sharedVaultUuid !== undefined) !== (of === 'vault')",
    replace: "(claims.sharedVaultUuid === '') !== (of === 'vault' && claims.id === '')",
    tests: moves,
    match: 'a token of an account does nothing*',
  },
  {
    name: 'move-replaces-file',
    harm: 'A file that is moved takes the place of another, which is lost.',
    file: 'actors/files/transfer.ts',
    find: '  if (row !== undefined) return isTaken;\n',
    replace: '',
    tests: moves,
    match: 'a file that is in the way*',
  },
];
