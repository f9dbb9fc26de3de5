/** The checker accepts correct histories, and catches each kind of planted error. */
import test from 'ava';
import { check } from './checker.ts';
import { kindsIn, type Planted, plantedFiles, plantedInCuts, plantedInVaults } from './planted.ts';
import { ann, bob, Story, seen, write } from './story.ts';
import { type ViolationKind, violationKinds } from './violation.ts';

const created = write('note', 'w1');
const edited = write('note', 'w2', 10);
const removed = write('note', 'w3', 20, true);
const rival = write('note', 'w9', 10);

test('a life of one item on two devices is right', (t) => {
  const story = new Story('phone', 'laptop')
    .sync({ writes: [created], saved: [['note', 10]] })
    .sync({ device: 'laptop', retrieved: [seen(created, 10)] })
    .sync({ device: 'laptop', writes: [edited], saved: [['note', 20]] })
    .sync({
      writes: [rival],
      conflicts: [{ type: 'sync_conflict', uuid: 'note', stored: seen(edited, 20) }],
    })
    .sync({ writes: [removed], saved: [['note', 30]] })
    .sync({ device: 'laptop', retrieved: [seen(removed, 30)] })
    .final([seen(removed, 30)]);
  t.deepEqual(check(story.entries), []);
});

test('a write of unknown outcome may be there or not', (t) => {
  for (const tookEffect of [true, false]) {
    const story = new Story('phone').sync({ writes: [created], saved: [['note', 10]] });
    story.send({ writes: [edited] });
    story.tell({ event: 'closing', device: 'phone' });
    story.final([tookEffect ? seen(edited, 20) : seen(created, 10)]);
    t.deepEqual(check(story.entries), []);
  }
});

test('a save that is sent again, and was overtaken by an edit of its result, is a right conflict', (t) => {
  const story = new Story('phone', 'laptop');
  const call = story.send({ writes: [created] });
  story
    .sync({ device: 'laptop', retrieved: [seen(created, 10)] })
    .sync({ device: 'laptop', writes: [edited], saved: [['note', 20]] })
    .tell({ event: 'repeated', call })
    .answer(call, { conflicts: [{ type: 'sync_conflict', uuid: 'note', stored: seen(edited, 20) }] })
    .final([seen(edited, 20)]);
  t.deepEqual(check(story.entries), []);
});

test('an answer that was in flight while another device saved need not have it', (t) => {
  const story = new Story('phone', 'laptop');
  const call = story.send({ device: 'laptop' });
  story
    .sync({ writes: [created], saved: [['note', 10]] })
    .answer(call)
    .sync({ device: 'laptop', retrieved: [seen(created, 10)] })
    .final([seen(created, 10)]);
  t.deepEqual(check(story.entries), []);
});

test('an item that is written while a sync is read may come with the next one only', (t) => {
  const story = new Story('phone', 'laptop').sync({ writes: [created], saved: [['note', 10]] });
  const reading = story.send({ device: 'laptop' });
  story
    .sync({ writes: [edited], saved: [['note', 20]] })
    .answer(reading)
    .sync({ device: 'laptop', retrieved: [seen(edited, 20)] })
    .final([seen(edited, 20)]);
  t.deepEqual(check(story.entries), []);
});

test('a first sync leaves out what was deleted', (t) => {
  const story = new Story('phone', 'laptop')
    .sync({ writes: [created], saved: [['note', 10]] })
    .sync({ writes: [write('note', 'w3', 10, true)], saved: [['note', 20]] })
    .sync({ device: 'laptop' })
    .final([seen(write('note', 'w3', 10, true), 20)]);
  t.deepEqual(check(story.entries), []);
});

const planted: Planted = {
  'an acknowledged item is gone': {
    story: () => new Story().sync({ writes: [created], saved: [['note', 10]] }).final([]),
    kinds: ['lost'],
  },
  'an acknowledged edit was undone': {
    story: () =>
      new Story()
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ writes: [edited], saved: [['note', 20]] })
        .final([seen(created, 10)]),
    kinds: ['lost'],
  },
  'two edits of one version are both acknowledged': {
    story: () =>
      new Story()
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ writes: [edited], saved: [['note', 20]] })
        .sync({ writes: [rival], saved: [['note', 30]] })
        .final([seen(rival, 30)]),
    kinds: ['forked', 'lost'],
  },
  'a device was given what then was undone': {
    story: () => {
      const story = new Story('laptop').sync({ writes: [created], saved: [['note', 10]] });
      story.send({ writes: [edited] });
      return story
        .sync({ device: 'laptop', retrieved: [seen(edited, 20)] })
        .tell({ event: 'closing', device: 'laptop' })
        .final([seen(created, 10)]);
    },
    kinds: ['lost'],
  },
  'a named command that is sent again has another effect': {
    story: () => {
      const story = new Story('phone');
      const call = story.send({ writes: [created] });
      return story
        .answer(call, { saved: [['note', 10]] })
        .tell({ event: 'replayed', call, saved: [{ uuid: 'note', version: 20 }] })
        .final([seen(created, 10)]);
    },
    kinds: ['command-changed'],
  },
  'a repeated save is applied again': {
    story: () => {
      const story = new Story('laptop');
      const call = story.send({ writes: [created] });
      return story
        .sync({ device: 'laptop', retrieved: [seen(created, 10)] })
        .tell({ event: 'repeated', call })
        .answer(call, { saved: [['note', 20]] })
        .tell({ event: 'closing', device: 'laptop' })
        .final([]);
    },
    kinds: ['applied-twice', 'lost'],
  },
  'an item is there twice': {
    story: () =>
      new Story()
        .sync({ writes: [created], saved: [['note', 10]] })
        .final([seen(created, 10), seen(created, 10)]),
    kinds: ['duplicate'],
  },
  'a later write has an earlier version': {
    story: () =>
      new Story()
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ writes: [write('list', 'l1')], saved: [['list', 5]] })
        .final([seen(created, 10), seen(write('list', 'l1'), 5)]),
    kinds: ['out-of-order'],
  },
  'text of one write stands beside columns of another': {
    story: () =>
      new Story()
        .sync({ writes: [created], saved: [['note', 10]] })
        .final([seen(created, 10, { whole: false })]),
    kinds: ['torn'],
  },
  'a state comes from nowhere': {
    story: () => new Story().final([seen(created, 10)]),
    kinds: ['unknown'],
  },
  'the base of an edit comes from nowhere': {
    story: () => new Story().sync({ writes: [edited], saved: [['note', 20]] }).final([seen(edited, 20)]),
    kinds: ['unknown'],
  },
  "one user is given another's note": {
    story: () =>
      new Story()
        .sync({ user: bob, device: 'tablet', writes: [created], saved: [['note', 10]] })
        .sync({ retrieved: [seen(created, 10, { owner: bob })] }),
    kinds: ['leak'],
  },
  "another's note comes under one's own name": {
    story: () =>
      new Story()
        .sync({ user: bob, device: 'tablet', writes: [created], saved: [['note', 10]] })
        .sync({ retrieved: [seen(created, 10, { owner: ann })] }),
    kinds: ['leak'],
  },
  'a deleted item is edited': {
    story: () => {
      const revived = write('note', 'w4', 20);
      return new Story('phone')
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ writes: [write('note', 'd', 10, true)], saved: [['note', 20]] })
        .sync({ writes: [revived], saved: [['note', 30]] })
        .final([seen(revived, 30)]);
    },
    kinds: ['resurrected'],
  },
  'a device goes back': {
    story: () =>
      new Story('phone')
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ writes: [edited], saved: [['note', 20]] })
        .sync({ retrieved: [seen(created, 10)] })
        .tell({ event: 'closing', device: 'phone' })
        .final([seen(edited, 20)]),
    kinds: ['went-back'],
  },
  'a sync skips what another device saved': {
    story: () =>
      new Story('phone', 'laptop')
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ device: 'laptop' })
        .tell({ event: 'closing', device: 'laptop' })
        .final([seen(created, 10)]),
    kinds: ['skipped'],
  },
  'pages skip what was saved before the first of them was asked': {
    story: () => {
      const other = write('list', 'l1');
      const story = new Story('phone', 'laptop')
        .sync({ writes: [other], saved: [['list', 5]] })
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ device: 'laptop', retrieved: [seen(other, 5)], complete: false })
        .sync({ device: 'laptop', continues: true });
      return story.tell({ event: 'closing', device: 'laptop' }).final([seen(other, 5), seen(created, 10)]);
    },
    kinds: ['skipped'],
  },
  'a device ends with less than a new one': {
    story: () => {
      const story = new Story('phone', 'laptop');
      const call = story.send({ device: 'laptop' });
      return story
        .sync({ writes: [created], saved: [['note', 10]] })
        .answer(call)
        .final([seen(created, 10)]);
    },
    kinds: ['diverged'],
  },
  'a first sync lacks an item': {
    story: () =>
      new Story('phone').sync({ writes: [created], saved: [['note', 10]] }).final([seen(created, 10)], []),
    kinds: ['diverged'],
  },
  'an item that was sent is not answered': {
    story: () => new Story('phone').sync({ writes: [created] }).final([]),
    kinds: ['unaccounted'],
  },
  'a save conflicts with itself': {
    story: () => {
      const conflict = { type: 'sync_conflict', uuid: 'note', stored: seen(created, 10) };
      return new Story('phone').sync({ writes: [created], conflicts: [conflict] }).final([seen(created, 10)]);
    },
    kinds: ['false-conflict'],
  },
  'a save conflicts with what it is based on': {
    story: () => {
      const conflict = { type: 'sync_conflict', uuid: 'note', stored: seen(created, 10) };
      return new Story('phone')
        .sync({ writes: [created], saved: [['note', 10]] })
        .sync({ writes: [edited], conflicts: [conflict] })
        .final([seen(created, 10)]);
    },
    kinds: ['false-conflict'],
  },
  'a new item is refused for its uuid': {
    story: () => {
      const conflict = { type: 'uuid_conflict', uuid: 'note', stored: undefined };
      return new Story('phone').sync({ writes: [created], conflicts: [conflict] }).final([]);
    },
    kinds: ['false-conflict'],
  },
  'a session is accepted after its end': {
    story: () =>
      new Story('phone')
        .tell({ event: 'closing', device: 'phone' })
        .tell({ event: 'closed', device: 'phone' })
        .sync({}),
    kinds: ['session-back'],
  },
  'a session that was refused is accepted again': {
    story: () => {
      const story = new Story('phone').tell({ event: 'closing', device: 'phone' });
      return story.tell({ event: 'refused', call: story.send({}) }).sync({});
    },
    kinds: ['session-back'],
  },
  'a session is refused though nobody ended it': {
    story: () => {
      const story = new Story('phone');
      return story.tell({ event: 'refused', call: story.send({}) });
    },
    kinds: ['session-lost'],
  },
  'an integrity check names what the device has': {
    story: () => {
      const story = new Story('phone').sync({ writes: [created], saved: [['note', 10]] });
      const call = story.send({ continues: true });
      const mismatches = [{ uuid: 'note', version: 10 }];
      story.tell({ event: 'compared', call, user: ann, device: 'phone', mismatches });
      return story.final([seen(created, 10)]);
    },
    kinds: ['false-mismatch'],
  },
  'a client is told of a defect': {
    story: () => {
      const story = new Story('phone');
      return story.tell({ event: 'failed', call: story.send({}), status: 500, text: 'oops' });
    },
    kinds: ['failed'],
  },
};

for (const [what, { story, kinds }] of Object.entries(planted)) {
  test(`caught: ${what}`, (t) => {
    t.deepEqual(kindsIn(story()), [...kinds].sort());
  });
}

test('every kind of wrong has a history that shows it', (t) => {
  const all = [planted, plantedInVaults, plantedFiles, plantedInCuts].flatMap((each) => Object.values(each));
  const kindsSeen = new Set(all.flatMap(({ kinds }) => kinds));
  t.deepEqual([...kindsSeen].sort(), Object.keys(violationKinds).sort() as ViolationKind[]);
});

test('a sync under a call that was sent again counts from its last sending', (t) => {
  const story = new Story('phone', 'laptop');
  const call = story.send({ device: 'laptop' });
  story
    .sync({ writes: [created], saved: [['note', 10]] })
    .tell({ event: 'repeated', call })
    .answer(call)
    .tell({ event: 'closing', device: 'laptop' })
    .final([seen(created, 10)]);
  t.deepEqual(kindsIn(story), ['skipped']);
});
