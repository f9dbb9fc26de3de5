import test from 'ava';
import { Layers, removed } from './layers.ts';

test('a speculative value covers the durable one until it is promoted or reverted', (t) => {
  const layers = new Layers<string>();
  layers.load('a', 'old');
  layers.overlay('a', 'new', 1);
  t.is(layers.get('a'), 'new');
  t.is(layers.durable.get('a'), 'old');
  layers.revert();
  t.is(layers.get('a'), 'old');
  layers.overlay('a', 'newer', 1);
  layers.promote('a', 'newer', 1);
  t.is(layers.durable.get('a'), 'newer');
});

test('promoting one commit leaves what a later one put above it', (t) => {
  const layers = new Layers<string>();
  layers.overlay('a', 'first', 1);
  layers.overlay('a', 'second', 2);
  layers.promote('a', 'first', 1);
  t.is(layers.durable.get('a'), 'first');
  t.is(layers.get('a'), 'second');
});

test('a removed key is absent from the keys and comes back when reverted', (t) => {
  const layers = new Layers<string>();
  layers.load('a', 'x');
  layers.load('b', 'y');
  layers.overlay('a', removed, 1);
  layers.overlay('c', 'z', 1);
  t.deepEqual([...layers.keys()].sort(), ['b', 'c']);
  layers.revert();
  t.deepEqual([...layers.keys()].sort(), ['a', 'b']);
  layers.overlay('a', removed, 1);
  layers.promote('a', removed, 1);
  t.is(layers.get('a'), undefined);
});

test('a family is known from the durable layer while no speculative value belongs to it', (t) => {
  const layers = new Layers<string>();
  layers.load('share:a', 'x');
  layers.load('file:b', 'y');
  layers.overlay('file:c', 'z', 1);
  t.deepEqual([...(layers.family('share:') ?? [])], [['a', 'x']]);
  t.is(layers.family('share:'), layers.family('share:'), 'the same map until it changes');
  t.is(layers.family('file:'), undefined);
  layers.promote('file:c', 'z', 1);
  t.deepEqual(
    [...(layers.family('file:') ?? [])],
    [
      ['b', 'y'],
      ['c', 'z'],
    ],
  );
});
