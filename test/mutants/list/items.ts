import type { Mutant } from '../mutant.ts';

const types = ['test/behaviour/items/content-types.test.ts'];
const pages = ['test/behaviour/items/pages.test.ts'];
const devices = ['test/behaviour/items/two-devices.test.ts'];
const races = ['test/races/items.test.ts'];
const save = ['actors/collection/save.test.ts'];
const collection = 'actors/collection';

const storedBytes = ['test/attacks/conflicts.test.ts'];

export const mutants: readonly Mutant[] = [
  ...Object.entries({
    folders: 'Folder',
    preferences: 'SN|UserPreferences',
    'file-safes': 'SN|FileSafe|Integration',
    contacts: 'SN|TrustedContact',
    wildcards: '*',
  }).map(([what, type]) => ({
    name: `no-more-${what}`,
    harm: `Items of type ${type} are refused, and a client keeps them to itself.`,
    file: collection,
    find: `  '${type}',\n`,
    replace: '',
    tests: types,
    match: 'items of every type*',
  })),
  {
    name: 'an-idle-sync-without-a-session',
    harm: 'A device whose session was ended goes on as if it had not, and keeps what it should wipe.',
    file: 'actors/user/signed-in.ts',
    find: ': whenSignedIn(view, asked, shape, () => ({ ok }));',
    replace: ': { ok, caller: callerOf(view) };',
    tests: devices,
    match: 'a device that has everything*',
  },
  {
    name: 'a-version-that-is-nearly-right',
    harm: 'An edit of an old version overwrites a newer one.',
    file: collection,
    find: 'return sent.updated_at_timestamp === stored.updated_at_timestamp;',
    replace: 'return Math.abs(Number(sent.updated_at_timestamp) - stored.updated_at_timestamp) < 2;',
    tests: devices,
    match: 'an edit is based*',
  },
  {
    name: 'the-last-saver-wins',
    harm: 'The first of two edits of one version is lost without a word.',
    file: collection,
    find: 'if (mine !== undefined && !isBasedOn(mine, sent, saver.legacy)) {',
    replace: 'if (false) {',
    tests: races,
    match: 'exactly one of several savers*',
  },
  {
    name: 'an-item-of-somebody-else',
    harm: 'One user overwrites the items of another whose uuids they know.',
    file: collection,
    find: '(stored?.collection === saver.collection && !isForwardingTombstone(stored))',
    replace: 'stored !== undefined',
    tests: devices,
    match: 'another user*',
  },
  {
    name: 'readers-who-save',
    harm: 'A read-only guest writes into the account.',
    file: collection,
    find: "if (saver.readOnly) return refusal('readonly_error', sent, saver.userUuid, visible);",
    replace: '',
    tests: devices,
    match: 'a read-only session*',
  },
  {
    name: 'a-deletion-that-keeps-the-text',
    harm: 'What was deleted can still be read in the database.',
    file: collection,
    find: '...(deleted ? blank : ciphertext(fields, mine))',
    replace: '...ciphertext(fields, mine)',
    tests: devices,
    match: 'a deleted item*',
  },
  {
    name: 'positions-that-skip',
    harm: 'A page that was cut is followed by one that leaves items out.',
    file: collection,
    find: 'changes.complete ? bound : changes.upTo',
    replace: 'bound',
    tests: pages,
    match: 'a first sync*',
  },
  {
    name: 'a-token-past-what-was-given',
    harm: 'What another device saved between read and save is never fetched.',
    file: collection,
    find: 'before.position === progress.end ? result.head.position : progress.end',
    replace: 'result.head.position',
    tests: races,
    match: '*between the turns*',
  },
  {
    name: 'tokens-of-another-time',
    harm: 'After a restore a device misses what has its old positions.',
    file: collection,
    find: 'cursor.generation === generation && ',
    replace: '',
    tests: pages,
    match: 'after a restore*',
  },
  {
    name: 'items-of-the-first-batch-alone',
    harm: 'Most of a large upload is dropped without a word.',
    file: collection,
    find: '  if (batch.length > 0) batches.push(batch);',
    replace: '',
    tests: pages,
    match: 'an upload larger*',
  },
  {
    name: 'versions-that-stand-still',
    harm: 'Two saves within a microsecond look like one, and the second is lost to others.',
    file: collection,
    find: 'before.updatedAtMicros + 1,',
    replace: 'before.updatedAtMicros,',
    tests: ['actors/collection/save-items.test.ts', ...save],
  },
  {
    name: 'ciphertext-that-was-not-read-is-lost',
    harm: 'An item that brings no ciphertext loses the stored one where that was not read.',
    file: 'actors/collection/save.ts',
    find: '!isWhole(mine) && !fields.content && fields.deleted !== true',
    replace: 'false',
    tests: storedBytes,
    match: 'an item that brings its own*',
  },
];
