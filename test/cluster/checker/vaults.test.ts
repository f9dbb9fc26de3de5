/** The checker's rules for vaults and files: it accepts correct histories, and catches each planted error. */
import test from 'ava';
import { check } from './checker.ts';
import {
  edited,
  erase,
  fetched,
  heard,
  kindsIn,
  moveIn,
  plantedFiles,
  plantedInVaults,
  read,
  readShared,
  shared,
  upload,
  uploadShared,
} from './planted.ts';
import { accept, ann, bob, ofAnnAndBob, removeBob, Story, seen, vault, write } from './story.ts';

for (const [what, { story, kinds }] of Object.entries({ ...plantedInVaults, ...plantedFiles })) {
  test(`caught: ${what}`, (t) => {
    t.deepEqual(kindsIn(story()), [...kinds].sort());
  });
}

const byBob = { user: bob, device: 'tablet' };
const last = seen(edited, 20, { vault });

const right: Readonly<Record<string, () => Story>> = {
  'a file that counts twice while it moves within one quota': () =>
    new Story()
      .shared()
      .operation(upload)
      .operation(moveIn)
      .tell({ event: 'counted', user: ann, bytes: 800, limitBytes: 700 }),
  'a note of two members': () =>
    new Story('phone')
      .shared()
      .tell({ event: 'opened', ...byBob })
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ ...byBob, retrieved: [fetched] })
      .sync({ ...byBob, writes: [edited], saved: [['note', 20]] })
      .sync({ retrieved: [last] })
      .final([last])
      .final([last], [last], bob)
      .belongs(ann, [ofAnnAndBob])
      .belongs(bob, [ofAnnAndBob]),
  'a member who is being removed may be given an item still': () => {
    const story = new Story().shared().sync({ writes: [shared], saved: [['note', 10]] });
    const removal = story.ask(removeBob);
    return story
      .sync({ ...byBob, retrieved: [fetched] })
      .tell({ event: 'done', call: removal, status: 200 })
      .final([fetched]);
  },
  'a removal whose answer was lost may come late': () =>
    new Story()
      .shared()
      .operation(removeBob, { isRepeated: true })
      .operation(accept('write', 'second'), { user: bob })
      .belongs(bob, []),
  'a refused save has changed nothing': () =>
    new Story()
      .shared()
      .operation(removeBob, { status: 400 })
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ ...byBob, retrieved: [fetched] })
      .final([fetched]),
  'an item goes out of a vault and in again': () => {
    const out = write('note', 'w2', 10);
    const back = { ...write('note', 'w3', 20), vault };
    return new Story('phone')
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ writes: [out], saved: [['note', 20]] })
      .sync({ writes: [back], saved: [['note', 30]] })
      .final([seen(back, 30, { vault })]);
  },
  'a member keeps an item that has gone to where he is not': () => {
    const out = write('note', 'w2', 10);
    return new Story('phone')
      .shared()
      .tell({ event: 'opened', ...byBob })
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ ...byBob, retrieved: [fetched] })
      .sync({ writes: [out], saved: [['note', 20]] })
      .final([seen(out, 20)])
      .final([], [], bob);
  },
  'items go home from a vault that has ended': () => {
    const home = seen(shared, 10);
    return new Story('phone')
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .operation({ does: 'end-vault', vault })
      .sync({ retrieved: [home], dropped: [vault] })
      .final([home])
      .belongs(ann, [])
      .belongs(bob, []);
  },
  'an item that came back from an ended vault goes into another': () => {
    const moved = { ...write('note', 'w2', 10), vault: 'other' };
    return new Story('phone')
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .operation({ does: 'end-vault', vault })
      .operation({ does: 'make-vault' }, { vault: 'other' })
      .sync({ writes: [moved], saved: [['note', 20]] })
      .final([seen(moved, 20, { vault: 'other' })]);
  },
  'a user who is no member of the vault that an item went to is refused': () => {
    const moved = { ...write('note', 'w3', 10), vault: 'other' };
    const refusal = { type: 'shared_vault_not_member_error', uuid: 'note', stored: undefined };
    return new Story('phone')
      .shared()
      .operation({ does: 'make-vault' }, { vault: 'other' })
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ writes: [moved], saved: [['note', 20]] })
      .sync({ ...byBob, writes: [edited], conflicts: [refusal] })
      .final([seen(moved, 20, { vault: 'other' })]);
  },
  'an item deleted in a vault is not given to new devices': () => {
    const gone = { ...write('note', 'w2', 10, true), vault };
    return new Story('phone')
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ writes: [gone], saved: [['note', 20]] })
      .final([]);
  },
  'a new member of a vault is not told of items deleted in it, though they have them from before': () => {
    const moved = { ...write('note', 'w2', 10), vault: 'other' };
    const gone = { ...write('note', 'w3', 20, true), vault: 'other' };
    return new Story('phone')
      .shared()
      .tell({ event: 'opened', ...byBob })
      .operation({ does: 'make-vault' }, { vault: 'other' })
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ ...byBob, retrieved: [fetched] })
      .sync({ writes: [moved], saved: [['note', 20]] })
      .sync({ writes: [gone], saved: [['note', 30]] })
      .operation(accept('write', 'second', 'other'), { user: bob })
      .sync(byBob)
      .final([], [], bob);
  },
  'a first sync may give tombstones of a vault on its later pages': () => {
    const gone = { ...write('note', 'w2', 10, true), vault };
    const tombstone = seen(gone, 20, { vault });
    return new Story('phone')
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ writes: [gone], saved: [['note', 20]] })
      .final([tombstone], [tombstone])
      .final([tombstone], [], bob)
      .belongs(ann, [ofAnnAndBob])
      .belongs(bob, [ofAnnAndBob]);
  },
  'items go with the account of their owner': () =>
    new Story()
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .operation({ does: 'delete-account' })
      .final([], [], bob)
      .belongs(bob, []),
  'an item of a vault that went with its owner’s account is made anew by a member who has read it': () => {
    const anew = { ...write('note', 'w2', 10), vault: 'other' };
    return new Story()
      .shared('read')
      .sync({ writes: [shared], saved: [['note', 10]] })
      .sync({ ...byBob, retrieved: [fetched] })
      .operation({ does: 'delete-account' })
      .operation({ does: 'make-vault' }, { user: bob, vault: 'other' })
      .sync({ ...byBob, writes: [anew], saved: [['note', 20]] })
      .final([seen(anew, 20, { vault: 'other', owner: bob })], undefined, bob);
  },
  'a survivor has the vault': () =>
    new Story()
      .shared()
      .sync({ writes: [shared], saved: [['note', 10]] })
      .operation({ does: 'designate', vault, whom: bob })
      .operation({ does: 'delete-account' })
      .final([fetched], [fetched], bob)
      .belongs(bob, [{ ...ofAnnAndBob, owner: bob, members: [{ user: bob, permission: 'admin' }] }]),
  'a socket tells members, and who was one a moment ago': () => {
    const story = heard(new Story().shared());
    return story.operation(removeBob).tell({ event: 'heard', user: bob, by: ann, savedAtMs: 2 });
  },
  'a socket tells members of what several have saved as that of the vault': () =>
    new Story().shared().tell({ event: 'heard', user: bob, by: vault, savedAtMs: 2 }),
  'a file is in one place at a time': () =>
    new Story()
      .shared()
      .operation(upload)
      .operation(read, { whole: true })
      .operation(moveIn)
      .operation(readShared, { user: bob, whole: true })
      .tell({ event: 'kept', file: 'photo', collections: [vault], whole: true })
      .belongs(ann, [ofAnnAndBob], 400)
      .belongs(bob, [ofAnnAndBob], 0),
  'a file whose deletion got no answer may be there or not': () =>
    new Story()
      .operation(upload)
      .operation(erase, { status: 400, isRepeated: true })
      .operation(read, { status: 404 })
      .tell({ event: 'kept', file: 'photo', collections: [], whole: true }),
  'a file whose close got no answer may be there or not': () =>
    new Story()
      .operation(upload, { status: 400, isRepeated: true })
      .operation(read, { whole: true })
      .tell({ event: 'kept', file: 'photo', collections: [ann], whole: true })
      .belongs(ann, [], 400),
  'a file of a vault is not for who has left': () =>
    new Story()
      .shared()
      .operation(uploadShared)
      .operation({ does: 'remove', vault, whom: bob }, { user: bob })
      .operation(readShared, { user: bob, status: 403 })
      .tell({ event: 'kept', file: 'photo', collections: [vault], whole: true }),
};

for (const [what, story] of Object.entries(right)) {
  test(`right: ${what}`, (t) => {
    t.deepEqual(check(story().entries), []);
  });
}
