import test from 'ava';
import fc from 'fast-check';
import { PendingCommit } from './gate.ts';
import { Layers, removed } from './layers.ts';
import { heapBytes } from './memory.ts';

test('all parts of a value count: texts, buffers, fields, elements, and the names in a large object', (t) => {
  const large = 'x'.repeat(10_000);
  for (const value of [large, Buffer.from(large), [large], { large }, { deep: { deeper: [large] } }]) {
    const bytes = heapBytes(value);
    t.true(bytes >= large.length && bytes < 1.1 * large.length, `${bytes}`);
  }
  const numbers = Array.from({ length: 1_000 }, (_, at) => at);
  t.true(heapBytes(numbers) >= 8_000);
  const named = Object.fromEntries(numbers.map((at) => [`${'n'.repeat(100)}${at}`, null]));
  t.true(heapBytes(named) > 100_000);
});

const names = fc.constantFrom('a', 'b', 'c');
const changes = fc.array(fc.tuple(names, fc.option(fc.json(), { nil: undefined })));

test('a durable slice counts once, however often it was written, and a removed one counts nothing', (t) => {
  fc.assert(
    fc.property(changes, (made) => {
      const layers = new Layers<unknown>();
      made.forEach(([name, value], at) => {
        layers.overlay(name, value ?? removed, at + 1);
        layers.promote(name, value ?? removed, at + 1);
      });
      const fresh = new Layers<unknown>();
      for (const [name, value] of layers.durable) fresh.load(name, value);
      t.is(layers.durableBytes, fresh.durableBytes);
      for (const name of ['a', 'b', 'c']) layers.promote(name, removed, made.length + 1);
      t.is(layers.durableBytes, 0);
    }),
  );
});

test('a pending commit counts of each slice and timer what was written last', (t) => {
  const nothing = { rows: new Map(), timers: new Map(), tells: [], signals: [] };
  const written = (value: unknown) => ({ ...nothing, slices: new Map([['a', { value, format: 1 }]]) });
  const commit = new PendingCommit(1);
  commit.add(written('x'.repeat(50_000)));
  t.true(commit.bytes > 50_000);
  for (let turn = 0; turn < 100; turn += 1) commit.add(written('x'.repeat(50_000)));
  t.true(commit.bytes < 51_000);
  commit.add(written('x'));
  t.true(commit.bytes < 1_000);
  const payload = Buffer.alloc(20_000);
  const timer = { kind: 'k', id: 'i', name: 'n', shard: 1, due_at: 1, payload, attempts: 0, dead: false };
  commit.add({ ...nothing, slices: new Map(), timers: new Map([['n', timer]]) });
  t.true(commit.bytes > 20_000 && commit.bytes < 22_000);
});
