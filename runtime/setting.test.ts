import test from 'ava';
import fc from 'fast-check';
import {
  address,
  choice,
  choices,
  defaultsOf,
  everySetting,
  fixed,
  flag,
  integer,
  list,
  mebibytes,
  type Setting,
  sameOnAllNodes,
  seconds,
  secret,
  section,
  settingsOf,
  text,
  WrongValue,
} from './setting.ts';

const of = { name: 'IT', description: 'It.' };

/** The value of a text, or what is wrong with it. */
function parsed<T>({ parse }: Setting<T>, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    return error.message;
  }
}

test('a default is written as an operator would write it, and read like any value', (t) => {
  t.is(seconds({ ...of, min: 0, default: 90 }).default, 90_000);
  t.is(mebibytes({ ...of, min: 0, default: 2 }).default, 2_097_152);
  t.is(flag({ ...of, default: false }).default, false);
  t.deepEqual(list({ ...of, default: 'a, b' }).default, ['a', 'b']);
  t.is(text(of).default, undefined);
  t.throws(() => integer({ ...of, min: 3, default: 2 }), { instanceOf: WrongValue });
  t.throws(() => choice(['a', 'b'], { ...of, default: 'c' }), { instanceOf: WrongValue });
});

test('the documentation of a setting is what holds', (t) => {
  t.like(seconds({ ...of, min: 1, max: 60, default: 5 }), {
    unit: 's',
    bounds: '1 to 60',
    defaultText: '`5`',
  });
  t.like(integer({ ...of, min: 1 }), { unit: '', bounds: 'at least 1', defaultText: 'none' });
  t.like(choice(['a', 'b', 'c'], of), { bounds: '`a`, `b` or `c`' });
  t.like(list({ ...of, default: '' }), { defaultText: 'none' });
  t.like(text({ ...of, default: '', defaultText: 'this host' }), { defaultText: 'this host' });
});

test('a number is whole and within its bounds, in the unit of its operator', (t) => {
  const age = seconds({ ...of, min: 3, max: 5 });
  t.is(parsed(age, '2'), 'is below 3');
  t.is(parsed(age, '3'), 3_000);
  t.is(parsed(age, '5'), 5_000);
  t.is(parsed(age, '6'), 'is above 5');
  for (const other of ['4.5', '4s', '0x4', '4e0', '+4', ''])
    t.is(parsed(age, other), 'is not a whole number');
  t.regex(String(parsed(integer({ ...of, min: 0 }), '9007199254740993')), /is above/);
});

test('flags, choices, lists and addresses', (t) => {
  t.deepEqual(
    ['TRUE', '1', 'Yes', 'on', 'False', '0', 'no', 'OFF'].map((text) => parsed(flag(of), text)),
    [true, true, true, true, false, false, false, false],
  );
  t.is(parsed(flag(of), 'y'), 'is neither true nor false');
  t.is(parsed(choice(['a', 'b'], of), 'c'), 'is not one of a, b');
  t.deepEqual(parsed(list(of), ' a,, b ,'), ['a', 'b']);
  t.deepEqual(parsed(choices(['a', 'b'], of), 'b, a'), ['b', 'a']);
  t.is(parsed(choices(['a', 'b'], of), 'a, c'), 'is not a list of a, b');
  t.is(parsed(text({ ...of, pattern: /^\d$/, form: 'a digit' }), 'x'), 'is not a digit');
  t.is(parsed(address(of), 'https://notes.test/a//'), 'https://notes.test/a');
  for (const other of ['notes.test', 'ftp://notes.test', 'http:notes.test', 'https://', 'http://[::1']) {
    t.is(parsed(address(of), other), 'is not an http or https address', other);
  }
});

test('values stand where their settings are declared', (t) => {
  const declarations = { a: integer({ ...of, min: 0, default: 1 }), inner: { b: text(of), c: fixed(3) } };
  t.deepEqual(defaultsOf(declarations), { a: 1, inner: { b: undefined, c: 3 } });
  t.deepEqual(settingsOf(declarations, ({ name }) => name) as unknown, { a: 'IT', inner: { b: 'IT', c: 3 } });
});

test('a mark is of all within, and leaves what is around as it was', (t) => {
  const inner = { b: text({ ...of, name: 'B' }), c: fixed(3) };
  const marked = section('One', { a: text({ ...of, name: 'A' }), ...sameOnAllNodes(secret({ inner })) });
  t.deepEqual(
    everySetting(marked).map(({ name, section: title, isShared, isSecret }) => [
      name,
      title,
      isShared,
      isSecret,
    ]),
    [
      ['A', 'One', false, false],
      ['B', 'One', true, true],
    ],
  );
  t.like(inner.b, { section: '', isShared: false, isSecret: false });
});

test('a form has a value for each text or says what is wrong', (t) => {
  const forms = [flag(of), list(of), address(of), integer({ ...of, min: 0 }), choices(['a'], of)];
  fc.assert(
    fc.property(fc.constantFrom<Setting>(...forms), fc.string(), (form, input) => {
      t.notThrows(() => parsed(form, input));
    }),
  );
});
