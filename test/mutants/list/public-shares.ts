import type { Mutant } from '../mutant.ts';

const behaviour = ['test/behaviour/accounts/public-shares.test.ts'];
const races = ['test/races/public-shares.test.ts'];
const ids = ['actors/identity/share-ids.test.ts'];
const opening = ['actors/share/opening.test.ts'];
const page = ['gateway/viewer/page.test.ts'];

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
    name: 'a-share-revoked-before-it-is-over',
    harm: 'A share is opened after its owner was told that it is revoked.',
    file: 'actors/user/public-shares/part.ts',
    find: '    await unlessAbsent(workflow.actors.get(Share, shareUuid).ask.end({}));\n',
    replace: '    void unlessAbsent(workflow.actors.get(Share, shareUuid).ask.end({}));\n',
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
    name: 'a-page-that-runs-what-it-is-given',
    harm: 'A script of another server runs in the page of shares, and reads what was decrypted.',
    file: 'gateway/viewer/page.ts',
    find: "digestOf(script)}'`",
    replace: "digestOf(script)}' *`",
    tests: page,
  },
  {
    name: 'a-page-that-speaks-to-anybody',
    harm: 'What was decrypted can be sent to another server.',
    file: 'gateway/viewer/page.ts',
    find: '"connect-src \'self\'"',
    replace: "'connect-src *'",
    tests: page,
  },
  {
    name: 'a-changed-text-that-is-shown',
    harm: 'What the server made of a share is shown as what its owner wrote.',
    file: 'gateway/viewer/browser/sealed.ts',
    find: "bytes === undefined ? { opened: 'wrong-key' }",
    replace: "bytes === undefined ? { opened: 'other', text: payload }",
    tests: ['gateway/viewer/browser/sealed.test.ts'],
  },
  {
    name: 'a-share-used-up-without-room',
    harm: 'A one-time share is gone, as the server had no memory to send what it holds.',
    file: 'actors/share/share.ts',
    find: '    if (bytes > roomBytes) return { ok: { needsBytes: bytes } };\n',
    replace: '',
    tests: races,
  },
];
