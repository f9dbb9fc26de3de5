/** The checker's rule for users whose host is well while another one is cut off from the database. */
import test from 'ava';
import { check } from './checker.ts';
import { kindsIn, plantedInCuts, syncsDuringCut } from './planted.ts';
import { ann, bob, Story } from './story.ts';

for (const [what, { story, kinds }] of Object.entries(plantedInCuts)) {
  test(`caught: ${what}`, (t) => t.deepEqual(kindsIn(story()), kinds));
}

const right: Readonly<Record<string, () => Story>> = {
  'a sync of a user whose host is well': () => syncsDuringCut([ann], 200, 4_000),
  'a sync of a user whose host is cut off': () => syncsDuringCut([bob], 503, 25_000),
  'a sync that was sent before another host was named': () =>
    new Story()
      .tell({ event: 'cut-off', node: 'node-1', others: [bob] })
      .pass(1_000)
      .tell({ event: 'cut-off', node: 'node-1', others: [ann, bob] })
      .pass(5_500)
      .tell({ event: 'synced', user: ann, status: 200, tookMs: 6_000 }),
  'a sync of a user whose host is cut off next': () =>
    syncsDuringCut([ann], 200, 10)
      .tell({ event: 'cut-off', node: 'node-2', others: [bob] })
      .pass(9_000)
      .tell({ event: 'synced', user: ann, status: 503, tookMs: 8_000 }),
  'a sync that was sent and answered before the database was asked in this cut': () =>
    syncsDuringCut([ann], 200, 10)
      .pass(9_000)
      .tell({ event: 'synced', user: ann, status: 503, tookMs: 8_000 }),
  'a sync that was sent before the database was asked in this cut': () =>
    syncsDuringCut([ann], 200, 10)
      .pass(9_000)
      .tell({ event: 'cut-off', node: 'node-2', others: [ann] })
      .tell({ event: 'synced', user: ann, status: 503, tookMs: 8_000 }),
};

for (const [what, story] of Object.entries(right)) {
  test(`right: ${what}`, (t) => t.deepEqual(check(story().entries), []));
}
