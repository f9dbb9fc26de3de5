import { domainToUnicode } from 'node:url';
import test from 'ava';
import fc from 'fast-check';
import { mailAddress } from '../mailer/address.ts';
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
  'victim@ｅxample.net',
  'ｖictim@example.net',
  'ﬁnn',
  'a²b',
  'ⅷa1',
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

test('a workspace has one name, however its letters are composed', (t) => {
  t.is(normaliseWorkspace('cafe\u0301', true), normaliseWorkspace('caf\u00e9', true));
});

const character = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  fc.constantFrom(...'aAbBéÉﬁſKσςΣßẞÅｅＥ１²١ⅷʼ@.-_+ '),
);
const text = fc.array(character, { minLength: 3, maxLength: 12 }).map((characters) => characters.join(''));
const domain = fc.constantFrom(
  'example.net',
  'bücher.example',
  'ｅxample.net',
  'exａmple.net',
  'xn--bcher-kva.example',
);
const named = fc.oneof(
  text,
  fc.tuple(text, domain).map((parts) => parts.join('@')),
  fc.tuple(fc.constantFrom('ann', 'Ann', 'ａnn'), fc.oneof(domain, text)).map((parts) => parts.join('@')),
);

test('a normalised name is in its one form, and mail reads it as that name', (t) => {
  fc.assert(
    fc.property(named, (input) => {
      const name = normaliseUsername(input);
      t.is(normaliseUsername(name), name);
      if (!isValidUsername(name)) return;
      t.is(name.normalize('NFKC').toLowerCase(), name);
      const address = mailAddress(name);
      if (address === undefined) return;
      t.is(`${address.slice(0, address.lastIndexOf('@'))}@${unicodeOf(address)}`, name);
    }),
    { numRuns: 2_000 },
  );
});

const unicodeOf = (address: string): string => domainToUnicode(address.slice(address.lastIndexOf('@') + 1));

test('a username is the address that mail takes it for: names that differ have different mailboxes', (t) => {
  for (const input of [
    'ann@ｅxample.net',
    'ann@exａmple.net',
    'ann@ﬁsh.example',
    'ann@ſun.example',
    'ann@a².example',
  ]) {
    t.is(mailAddress(input), undefined, input);
  }
  t.is(mailAddress('ann@BÜCHER.example'), mailAddress('ann@xn--bcher-kva.example'));
});
