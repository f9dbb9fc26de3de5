/**
 * Histories of vaults and files with a planted error, each with the kinds of violation that the checker must report.
 */
import type { Operation } from '../operations.ts';
import { check } from './checker.ts';
import { accept, ann, bob, ofAnnAndBob, removeBob, Story, seen, vault, write } from './story.ts';
import type { ViolationKind } from './violation.ts';

export type Planted = Readonly<
  Record<string, { readonly story: () => Story; readonly kinds: readonly ViolationKind[] }>
>;

export const kindsIn = (story: Story): string[] =>
  [...new Set(check(story.entries).map(({ kind }) => kind))].sort();

export const shared = { ...write('note', 'w1'), vault };
export const edited = { ...write('note', 'w2', 10), vault };
export const fetched = seen(shared, 10, { vault });

const saved = (story: Story): Story => story.sync({ writes: [shared], saved: [['note', 10]] });
const byBob = { user: bob, device: 'tablet' };

export const plantedInVaults: Planted = {
  'a member who was removed is given an item that is saved later': {
    story: () =>
      saved(new Story().shared().operation(removeBob))
        .sync({ ...byBob, retrieved: [fetched] })
        .final([fetched]),
    kinds: ['leak'],
  },
  'a user who was never a member is given an item': {
    story: () =>
      saved(new Story().operation({ does: 'make-vault' }))
        .sync({ ...byBob, retrieved: [fetched] })
        .final([fetched]),
    kinds: ['leak'],
  },
  'a removed member finds the vault at the end': {
    story: () =>
      saved(new Story().shared().operation(removeBob)).final([fetched]).final([fetched], [fetched], bob),
    kinds: ['leak'],
  },
  'a member who may only read saves': {
    story: () =>
      saved(new Story().shared('read'))
        .sync({ ...byBob, retrieved: [fetched] })
        .sync({ ...byBob, writes: [edited], saved: [['note', 20]] })
        .final([seen(edited, 20, { vault })]),
    kinds: ['forbidden'],
  },
  'a removed member saves': {
    story: () =>
      saved(new Story().shared().operation(removeBob))
        .sync({ ...byBob, writes: [edited], saved: [['note', 20]] })
        .final([seen(edited, 20, { vault })]),
    kinds: ['forbidden'],
  },
  'a member who does not own an item takes it out of the vault': {
    story: () => {
      const conflicting = write('note', 'w2', 10);
      return saved(new Story().shared())
        .sync({ ...byBob, writes: [conflicting], saved: [['note', 20]] })
        .final([seen(conflicting, 20, { owner: bob })], undefined, bob);
    },
    kinds: ['forbidden'],
  },
  'a member who may only read takes an item into a vault of their own': {
    story: () => {
      const conflicting = { ...write('note', 'w2', 10), vault: 'other' };
      return saved(new Story().shared('read'))
        .sync({ ...byBob, retrieved: [fetched] })
        .operation({ does: 'make-vault' }, { user: bob, vault: 'other' })
        .sync({ ...byBob, writes: [conflicting], saved: [['note', 20]] })
        .final([seen(conflicting, 20, { vault: 'other', owner: bob })], undefined, bob);
    },
    kinds: ['forbidden'],
  },
  'an item of a vault is lost': {
    story: () => saved(new Story().shared()).final([]),
    kinds: ['lost'],
  },
  'an item is lost on its way into a vault': {
    story: () => {
      const own = write('note', 'w1');
      return new Story()
        .shared()
        .sync({ writes: [own], saved: [['note', 10]] })
        .sync({ writes: [edited], saved: [['note', 20]] })
        .final([]);
    },
    kinds: ['lost'],
  },
  'an item is in the vault and beside it': {
    story: () => {
      const moved = write('note', 'w2', 10);
      return saved(new Story().shared())
        .sync({ writes: [moved], saved: [['note', 20]] })
        .final([fetched, seen(moved, 20)]);
    },
    kinds: ['duplicate'],
  },
  'an item of a vault comes as if it were in none': {
    story: () => saved(new Story().shared()).final([seen(shared, 10)]),
    kinds: ['torn'],
  },
  'two members edit one version': {
    story: () => {
      const rival = { ...write('note', 'w9', 10), vault };
      return saved(new Story().shared())
        .sync({ writes: [edited], saved: [['note', 20]] })
        .sync({ ...byBob, writes: [rival], saved: [['note', 30]] })
        .final([seen(rival, 30, { vault })]);
    },
    kinds: ['forked', 'lost'],
  },
  'a member is not given what another has saved': {
    story: () =>
      saved(new Story('phone').shared().tell({ event: 'opened', user: bob, device: 'tablet' }))
        .sync(byBob)
        .tell({ event: 'closing', device: 'tablet' })
        .final([fetched]),
    kinds: ['skipped'],
  },
  'a member of both vaults is not told that an item was deleted where it has gone': {
    story: () => {
      const moved = { ...write('note', 'w2', 10), vault: 'other' };
      const gone = { ...write('note', 'w3', 20, true), vault: 'other' };
      const story = new Story('phone')
        .shared()
        .tell({ event: 'opened', user: bob, device: 'tablet' })
        .operation({ does: 'make-vault' }, { vault: 'other' })
        .operation(accept('write', 'second', 'other'), { user: bob });
      return saved(story)
        .sync({ ...byBob, retrieved: [fetched] })
        .sync({ writes: [moved], saved: [['note', 20]] })
        .sync({ writes: [gone], saved: [['note', 30]] })
        .sync(byBob)
        .tell({ event: 'closing', device: 'tablet' })
        .final([]);
    },
    kinds: ['skipped'],
  },
  'a member who came back is not given an item that they had forgotten': {
    story: () =>
      saved(new Story('phone').shared().tell({ event: 'opened', user: bob, device: 'tablet' }))
        .sync({ ...byBob, retrieved: [fetched] })
        .operation(removeBob)
        .operation(accept('write', 'second'), { user: bob })
        .sync({ ...byBob, dropped: [vault] })
        .tell({ event: 'closing', device: 'tablet' })
        .final([fetched]),
    kinds: ['skipped'],
  },
  'a member ends without an item of the vault': {
    story: () => {
      const story = new Story().shared().tell({ event: 'opened', user: bob, device: 'tablet' });
      return saved(story).final([fetched], [fetched], bob);
    },
    kinds: ['diverged'],
  },
  'a member is refused as if he were none': {
    story: () => {
      const refusal = { type: 'shared_vault_not_member_error', uuid: 'note', stored: undefined };
      return new Story()
        .shared()
        .sync({ ...byBob, writes: [shared], conflicts: [refusal] })
        .final([]);
    },
    kinds: ['false-conflict'],
  },
  'a member who may write is refused as if they might not': {
    story: () => {
      const type = 'shared_vault_insufficient_permissions_error';
      return new Story()
        .shared()
        .sync({ ...byBob, writes: [shared], conflicts: [{ type, uuid: 'note', stored: undefined }] })
        .final([]);
    },
    kinds: ['false-conflict'],
  },
  'a vault is gone that nobody has ended': {
    story: () => new Story().operation({ does: 'make-vault' }).belongs(ann, []),
    kinds: ['vault-lost'],
  },
  'a survivor gets nothing': {
    story: () => survived().belongs(bob, []),
    kinds: ['vault-lost'],
  },
  'a survivor is a member of a vault of somebody who is gone': {
    story: () => survived().belongs(bob, [ofAnnAndBob]),
    kinds: ['vault-lost'],
  },
  'a vault is shown to who was removed': {
    story: () => new Story().shared().operation(removeBob).belongs(bob, [ofAnnAndBob]),
    kinds: ['vault-kept'],
  },
  'two members are shown different members': {
    story: () =>
      new Story()
        .shared()
        .belongs(ann, [{ ...ofAnnAndBob, members: ofAnnAndBob.members.slice(0, 1) }])
        .belongs(bob, [ofAnnAndBob]),
    kinds: ['vault-differs'],
  },
  'two members are given different items': {
    story: () =>
      saved(new Story().shared())
        .final([fetched])
        .final([fetched], [], bob)
        .belongs(ann, [ofAnnAndBob])
        .belongs(bob, [ofAnnAndBob]),
    kinds: ['diverged', 'vault-differs'],
  },
  'a socket tells who was removed': {
    story: () => heard(new Story().shared().operation(removeBob)),
    kinds: ['overheard'],
  },
  'a socket tells who was removed what several have saved': {
    story: () => heard(new Story().shared().operation(removeBob), vault),
    kinds: ['overheard'],
  },
  'a socket tells who is in another vault': {
    story: () => heard(new Story().operation({ does: 'make-vault' })),
    kinds: ['overheard'],
  },
};

function survived(): Story {
  return new Story()
    .shared()
    .operation({ does: 'designate', vault, whom: bob })
    .operation({ does: 'delete-account' });
}

/** Bob hears of what Ann saved a second later. */
export function heard(story: Story, by: string = ann): Story {
  const savedAtMs = story.entries.length + 1_000;
  return story.tell({ event: 'heard', user: bob, by, savedAtMs });
}

export const upload: Operation = { does: 'upload', file: 'photo', collection: ann, bytes: 400 };
export const uploadShared: Operation = { ...upload, collection: vault };
export const read: Operation = { does: 'read', file: 'photo', collection: ann };
export const readShared: Operation = { ...read, collection: vault };
export const erase: Operation = { does: 'erase', file: 'photo', collection: ann };
export const moveIn: Operation = { does: 'move', file: 'photo', collection: ann, to: vault };

const stored = (...collections: readonly string[]) =>
  ({ event: 'kept', file: 'photo', collections: collections, whole: true }) as const;

export const plantedFiles: Planted = {
  'a file that was closed cannot be read': {
    story: () => new Story().operation(upload).operation(read, { status: 404 }),
    kinds: ['file-lost'],
  },
  'a file of a vault cannot be read by a member': {
    story: () =>
      new Story().shared().operation(uploadShared).operation(readShared, { user: bob, status: 400 }),
    kinds: ['file-lost'],
  },
  'a file that was closed is gone at the end': {
    story: () => new Story().operation(upload).tell(stored()),
    kinds: ['file-lost'],
  },
  'a file is lost on its way': {
    story: () => new Story().shared().operation(upload).operation(moveIn).tell(stored()),
    kinds: ['file-lost'],
  },
  'a file is in two places': {
    story: () => new Story().shared().operation(upload).operation(moveIn).tell(stored(ann, vault)),
    kinds: ['file-doubled'],
  },
  'a file has other bytes': {
    story: () => new Story().operation(upload).operation(read, { whole: false }),
    kinds: ['file-torn'],
  },
  'a file has other bytes at the end': {
    story: () => new Story().operation(upload).tell({ ...stored(ann), whole: false }),
    kinds: ['file-torn'],
  },
  'a file that was deleted is read': {
    story: () => new Story().operation(upload).operation(erase).operation(read, { whole: true }),
    kinds: ['file-back'],
  },
  'a file that was deleted is there at the end': {
    story: () => new Story().operation(upload).operation(erase).tell(stored(ann)),
    kinds: ['file-back'],
  },
  'a removed member reads a file': {
    story: () =>
      new Story()
        .shared()
        .operation(uploadShared)
        .operation(removeBob)
        .operation(readShared, { user: bob, whole: true }),
    kinds: ['file-leak'],
  },
  "one user reads another's file": {
    story: () => new Story().operation(upload).operation(read, { user: bob, whole: true }),
    kinds: ['file-leak'],
  },
  'two uploads find room for one': {
    story: () => {
      const first = new Story().tell({ event: 'counted', user: ann, bytes: 0, limitBytes: 1_000 });
      const [one, other] = [
        { ...upload, bytes: 600 },
        { ...upload, file: 'film', bytes: 500 },
      ];
      const calls = [first.ask(one), first.ask(other)];
      for (const call of calls) first.tell({ event: 'done', call, status: 200 });
      return first;
    },
    kinds: ['over-quota'],
  },
  'uploads into a vault and an account find room for one': {
    story: () =>
      new Story()
        .shared()
        .tell({ event: 'counted', user: ann, bytes: 0, limitBytes: 1_000 })
        .operation({ ...upload, bytes: 600 })
        .operation({ ...uploadShared, file: 'film', bytes: 500 }, { user: bob }),
    kinds: ['over-quota'],
  },
  'the server counts more than there may be': {
    story: () => new Story().tell({ event: 'counted', user: ann, bytes: 1_001, limitBytes: 1_000 }),
    kinds: ['over-quota'],
  },
  'more is there at the end than may be': {
    story: () =>
      new Story()
        .operation({ ...upload, bytes: 1_001 })
        .tell(stored(ann))
        .belongs(ann, [], 1_001),
    kinds: ['over-quota'],
  },
  'a file is counted twice': {
    story: () => new Story().operation(upload).tell(stored(ann)).belongs(ann, [], 800),
    kinds: ['miscounted'],
  },
  'a file that was deleted is counted': {
    story: () => new Story().operation(upload).operation(erase).tell(stored()).belongs(ann, [], 400),
    kinds: ['miscounted'],
  },
  'a file of a vault is not counted for its owner': {
    story: () =>
      new Story()
        .shared()
        .operation(uploadShared, { user: bob })
        .tell(stored(vault))
        .belongs(ann, [ofAnnAndBob], 0),
    kinds: ['miscounted'],
  },
};

/** Ann syncs through another node while one is cut off. The database has just named another host for these users. */
export const syncsDuringCut = (others: readonly string[], status: number, tookMs: number): Story =>
  new Story()
    .tell({ event: 'cut-off', node: 'node-1', others })
    .pass(tookMs)
    .tell({ event: 'synced', user: ann, status, tookMs })
    .tell({ event: 'healed', node: 'node-1' });

export const plantedInCuts: Planted = {
  "another user's host is cut off, and a sync fails after the cut": {
    story: () =>
      new Story()
        .tell({ event: 'cut-off', node: 'node-1', others: [ann] })
        .pass(1_000)
        .tell({ event: 'healed', node: 'node-1' })
        .pass(100)
        .tell({ event: 'synced', user: ann, status: 503, tookMs: 500 }),
    kinds: ['held-up'],
  },
  "another user's host is cut off, and a sync takes long": {
    story: () => syncsDuringCut([ann], 200, 6_000),
    kinds: ['held-up'],
  },
  "another user's host is cut off, and a sync fails": {
    story: () => syncsDuringCut([ann], 503, 10),
    kinds: ['held-up'],
  },
};
