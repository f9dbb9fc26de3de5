import test from 'ava';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { hostileTexts as texts } from '../../../test/kit/hostile-texts.ts';
import { calendarOf } from '../../icalendar.ts';
import { readTodo } from './input.ts';
import { componentOf, etagOf, type TodoResponse } from './todo.ts';

test('no published text leaves its property, and each is read as it was written', (t) => {
  fc.assert(
    fc.property(texts, texts, texts, (uid, summary, description) => {
      const input = readTodo({ uid, summary, description });
      fc.pre(!('refused' in input));
      const todo: TodoResponse = { uid, ...input.todo, createdAt: 0, updatedAt: 1_000 };
      const text = calendarOf(componentOf(todo));
      t.true(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75 && !/[\r\n]/.test(line)));
      const calendar = new ICAL.Component(ICAL.parse(text));
      const [component, ...others] = calendar.getAllSubcomponents();
      t.deepEqual([component?.name, component?.getAllSubcomponents(), others], ['vtodo', [], []]);
      const names = component?.getAllProperties().map(({ name }) => name);
      const described = description === '' ? [] : ['description'];
      const around = ['uid', 'dtstamp', 'created', 'last-modified', 'summary'];
      t.deepEqual(names, [...around, ...described, 'status']);
      const read = (name: string) => component?.getFirstPropertyValue(name);
      const lines = (value: string) => value.replaceAll(/\r\n|\r/g, '\n');
      t.is(read('uid'), uid);
      t.is(read('summary'), lines(summary));
      t.is(read('description') ?? '', lines(description));
    }),
    { numRuns: 2_000 },
  );
});

test('the text of a to-do does not change by itself: every ETag there is would', (t) => {
  const todo = { uid: 'a', summary: 'b', completed: false, createdAt: 0, updatedAt: 1_772_352_001_500 };
  t.is(
    etagOf(calendarOf(componentOf(todo))),
    '"294e45371419f85961d4e0cd6644694afaddffc67c6297b1bd8d731754e7ac60"',
  );
});
