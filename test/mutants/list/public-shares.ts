import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/accounts/public-shares.test.ts'];
const races = ['test/races/public-shares.test.ts'];
const ids = ['actors/identity/share-ids.test.ts'];
const opening = ['actors/share/opening.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-one-time-share-for-all',
    harm: 'What was meant for one reader is read by everyone who has the link.',
    file: 'actors/share/opening.ts',
    find: "return isOneTime(terms) && opened.by !== by ? 'over' : 'open';",
    replace: "return by === '' ? 'over' : 'open';",
    tests: opening,
  },
  {
    name: 'a-window-without-end',
    harm: 'A share that was to be open for minutes stays open.',
    file: 'actors/share/opening.ts',
    find: "  if (nowMs >= keptUntilMs(terms, opened)) return 'over';\n",
    replace: '',
    tests: opening,
  },
  {
    name: 'a-share-of-a-banned-account',
    harm: 'Who was banned goes on publishing.',
    file: 'actors/user/public-shares/public-shares.ts',
    find: 'shows: lists && !isBanned(view)',
    replace: 'shows: lists',
    tests: behaviour,
  },
  {
    name: 'a-share-that-is-not-listed',
    harm: 'A crash leaves a share that anybody opens and its owner cannot revoke.',
    file: 'actors/share/share.ts',
    find: '    if (!(await askOwner(workflow, ownerUuid)).shows) return shareNotFound;\n',
    replace: '',
    tests: races,
  },
  {
    name: 'a-share-that-stays',
    harm: 'Ciphertext of a share that was never listed is kept for good.',
    file: 'actors/share/share.ts',
    find: 'return run.finish(lists ? undefined : { turn: end });',
    replace: 'return run.finish(lists ? undefined : { turn: () => {} });',
    tests: races,
  },
  {
    name: 'ciphertext-that-outlives-its-share',
    harm: 'What was revoked is still in the database and in every backup.',
    file: 'actors/share/share.ts',
    find: '  turn.remove(shareContentTable, contentKey(turn));\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'share-ids-that-anyone-makes',
    harm: 'Guessed ids wake actors and ask the database.',
    file: 'actors/identity/share-ids.ts',
    find: 'return isOurs ? id : undefined;',
    replace: 'return isOurs || id !== text ? id : id;',
    tests: ids,
  },
  {
    name: 'a-share-that-a-browser-uses-up',
    harm: 'A one-time share is gone before its reader has clicked on it.',
    file: 'gateway/routes/public-shares.ts',
    find: '    if (isAheadOfTime(context)) return refusedAnswer(notAhead);\n',
    replace: '',
    tests: behaviour,
  },
  {
    name: 'a-deleted-account-that-shares',
    harm: 'The ciphertext of a deleted account stays.',
    file: 'actors/user/purge.ts',
    find: '    if (endSomeShares(turn, purgeBatchShares)) {',
    replace: '    if (purgeBatchShares < 0 && endSomeShares(turn, purgeBatchShares)) {',
    tests: behaviour,
  },
  {
    name: 'shares-without-a-quota',
    harm: 'One account fills the disk of all with shares.',
    file: 'actors/user/public-shares/public-shares.ts',
    find: 'live.length < liveSharesMax && held + bytes <= shareBytesMax',
    replace: 'live.length < liveSharesMax && held + bytes > 0 * shareBytesMax',
    tests: behaviour,
  },
];
