import test from 'ava';
import { z } from 'zod';
import { command, timer } from './command.ts';
import { contract } from './contract.ts';
import { hooksOf, kindOfParts, partsWith } from './part.ts';
import { slice } from './slice.ts';

interface Hooks {
  readonly ended: () => string;
}

const part = partsWith<Hooks>();
const nothing = z.object({});

const Door = contract({
  name: 'house',
  commands: { open: { request: nothing, reply: nothing } },
  timers: { close: z.null() },
});
const Lamp = contract({ name: 'house', commands: { light: { request: nothing, reply: nothing } } });

const open = command(Door.commands.open, () => ({}));
const light = command(Lamp.commands.light, () => ({}));
const close = timer(Door.timers.close, () => {});
const isOpen = slice({ name: 'is-open', format: 1, schema: z.boolean(), initial: false });

const door = part(Door, {
  name: 'door',
  slices: [isOpen],
  commands: { open },
  timers: { close },
  on: { ended: () => 'the door is shut' },
});
const lamp = part(Lamp, { name: 'lamp', commands: { light }, on: { ended: () => 'the lamp is out' } });

test('a kind has what its parts declare', (t) => {
  const house = kindOfParts('house', [door, lamp]);
  t.deepEqual(Object.keys(house.commands), ['open', 'light']);
  t.deepEqual(Object.keys(house.timers), ['close']);
  t.deepEqual(house.slices, [isOpen]);
});

test('a name that two parts declare is refused, and both parts are named', (t) => {
  const otherLamp = part(Lamp, { name: 'lantern', commands: { light } });
  t.throws(() => kindOfParts('house', [lamp, otherLamp]), {
    instanceOf: TypeError,
    message: "commands 'light' is declared by lamp and by lantern",
  });
  const otherDoor = part(contract({ name: 'house' }), { name: 'gate', slices: [isOpen] });
  t.throws(() => kindOfParts('house', [door, otherDoor]), {
    message: "slice 'is-open' is declared by door and by gate",
  });
});

test('a part of another kind is refused', (t) => {
  const stable = part(contract({ name: 'farm' }), { name: 'stable' });
  t.throws(() => kindOfParts('house', [door, stable]), { message: 'stable is a part of farm, not of house' });
});

test('the hooks of a name come in the order of the parts', (t) => {
  const silent = part(contract({ name: 'house' }), { name: 'silent' });
  const hooks = hooksOf([lamp, silent, door]);
  t.deepEqual(
    hooks('ended').map((ended) => ended()),
    ['the lamp is out', 'the door is shut'],
  );
});
