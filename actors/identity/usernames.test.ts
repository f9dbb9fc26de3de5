import test from 'ava';
import { isPrivateUsername, isValidUsername, normaliseUsername, normaliseWorkspace } from './usernames.ts';

const valid = ['abc', 'alice@example.org', 'a+b@c-d.e_f.org', 'ünïcödé', 'f'.repeat(64), 'x'.repeat(100)];
const invalid = [
  '',
  'ab',
  'x'.repeat(101),
  '.abc',
  'abc.',
  'a..b',
  'a.-b@x.y',
  'a b c',
  'a/bc',
  'abc@',
  'abc\n',
];

for (const name of valid) test(`"${name}" may be registered`, (t) => t.true(isValidUsername(name)));
for (const name of invalid) {
  test(`${JSON.stringify(name)} may not be registered`, (t) => t.false(isValidUsername(name)));
}

test('a bare uuid may be registered', (t) => {
  t.true(isValidUsername('11111111-1111-4111-8111-111111111111'));
});

test('names are compared trimmed and in lower case', (t) => {
  t.is(normaliseUsername('  Alice@Example.ORG '), 'alice@example.org');
});

test('a private username has 64 characters and is no address', (t) => {
  t.true(isPrivateUsername('f'.repeat(64)));
  t.false(isPrivateUsername('f'.repeat(63)));
  t.false(isPrivateUsername(`${'f'.repeat(52)}@example.org`));
});

test('a workspace counts only where there are several, and blank is the default one', (t) => {
  t.is(normaliseWorkspace('work', false), 'default');
  t.is(normaliseWorkspace(' work ', true), 'work');
  for (const blank of [undefined, null, '', '  ']) t.is(normaliseWorkspace(blank, true), 'default');
});
