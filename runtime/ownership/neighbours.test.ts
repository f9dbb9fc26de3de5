import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { testNode } from '../../test/kit/host.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import type { LiveNode } from '../store/store.ts';
import { Neighbours } from './neighbours.ts';

const leaseMs = 9_000;
const random = new SeededRandom(1);

function setup() {
  const clock = new FakeClock();
  const warnings: object[] = [];
  const logger = { info() {}, warn: (fields: object) => void warnings.push(fields), error() {} };
  const node = testNode(random, 'here');
  return { clock, warnings, node, neighbours: new Neighbours({ clock, node, logger }) };
}

const live = (id: string): LiveNode => ({
  ...testNode(random, id),
  draining: false,
  connected: true,
  expiresInMs: leaseMs,
});

test('the end of a lease is told once, with the name of the node and how long ago it was', async (t) => {
  const { clock, warnings, node, neighbours } = setup();
  const [own, dying] = [{ ...live('here'), incarnation: node.incarnation }, live('there')];
  neighbours.update([own, dying]);
  await clock.advance(leaseMs + 1_500);
  const dead = { ...dying, incarnation: null, expiresInMs: -1_500 };
  neighbours.update([own, dead]);
  neighbours.update([own, dead]);
  t.deepEqual(warnings, [{ neighbour: 'there', endedAgoMs: 1_500 }]);
  // And again of its next incarnation.
  neighbours.update([own, live('there')]);
  await clock.advance(leaseMs + 1);
  neighbours.update([own]);
  t.deepEqual(warnings[1], { neighbour: 'there', endedAgoMs: 1 });
});

test('a node that leaves in order, or starts anew, is no news', async (t) => {
  const { clock, warnings, neighbours } = setup();
  neighbours.update([live('a'), live('b')]);
  await clock.advance(leaseMs / 3);
  neighbours.update([{ ...live('a'), incarnation: null, expiresInMs: 0 }, live('b')]);
  t.deepEqual(warnings, []);
});
