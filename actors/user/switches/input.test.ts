import test from 'ava';
import fc from 'fast-check';
import { readSwitch } from './input.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 0, 1);
const good = {
  recipientEmail: 'bob@example.org',
  shareUrl: 'https://notes.test/?shared=1#k',
  intervalDays: 30,
};
const isTaken = (changes: object): boolean => typeof readSwitch({ ...good, ...changes }, nowMs) !== 'string';

test('a recipient is one address on one line, whichever name it comes under', (t) => {
  t.true(isTaken({ recipientEmail: ' bob@example.org ' }));
  t.true(isTaken({ recipientEmail: undefined, recipient: 'bob@example.org' }));
  const bad = [
    ...['', 'bob', 'a@x.org, b@y.org', 'a@x.org;b@y.org', 'a@x.org b@y.org', 'Bob <bob@example.org>'],
    ...[
      'bob@example.org\r\nBcc: eve@example.org',
      'bob\n@example.org',
      'bob@example.org\0',
      'group: a@x.org;',
    ],
    ...[null, undefined, 7, {}, ['bob@example.org']],
  ];
  for (const recipientEmail of bad) t.false(isTaken({ recipientEmail }), JSON.stringify(recipientEmail));
});

test('a link is https, or of this machine, and carries neither a password nor a line break', (t) => {
  const valid = [
    'https://notes.test/',
    ' https://notes.test/#k ',
    'http://localhost:3000/?s=1#k',
    'http://127.0.0.1/',
    'http://[::1]/',
  ];
  for (const shareUrl of valid) t.true(isTaken({ shareUrl }), shareUrl);
  const bad = [
    ...[
      '',
      'notes.test',
      '//notes.test',
      'ftp://notes.test',
      'javascript:alert(1)',
      'http://notes.test/',
      'https://',
    ],
    ...[
      'https://a:b@notes.test/',
      'https://a@notes.test/',
      'http://localhost.evil.test/',
      'http://127.evil.test/',
    ],
    ...[
      'https://notes.test/\nhttps://evil.test/',
      'https://no tes.test/',
      `https://notes.test/${'x'.repeat(4_096)}`,
      7,
    ],
  ];
  for (const shareUrl of bad) t.false(isTaken({ shareUrl }), JSON.stringify(shareUrl));
});

test('a message is trimmed; one that is too long or that cannot be stored is refused', (t) => {
  const messageOf = (message: unknown) => {
    const parsed = readSwitch({ ...good, message }, nowMs);
    return typeof parsed === 'string' ? 'refused' : parsed.message;
  };
  t.deepEqual(
    [messageOf(' a '), messageOf('  '), messageOf(null), messageOf(undefined)],
    ['a', null, null, null],
  );
  t.is(messageOf('x'.repeat(4_000)), 'x'.repeat(4_000));
  for (const bad of ['x'.repeat(4_001), 'a\0b', '\ud800', 7, {}]) t.is(messageOf(bad), 'refused');
});

const anyTime = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.string(),
  fc.date().map((date) => (Number.isNaN(date.getTime()) ? 'never' : date.toISOString())),
  fc.constantFrom<unknown>(
    null,
    true,
    [],
    {},
    0,
    -1,
    0.5,
    3_650,
    3_651,
    1e300,
    Number.NaN,
    '30',
    '1e3',
    '2026-13-01',
  ),
);

test('a time is refused, or its deadline is to come and within ten years', (t) => {
  fc.assert(
    fc.property(anyTime, anyTime, (intervalDays, deadline) => {
      const parsed = readSwitch({ ...good, intervalDays, deadline }, nowMs);
      if (typeof parsed === 'string') return true;
      const aheadMs = parsed.deadlineMs - nowMs;
      return (
        Number.isSafeInteger(parsed.deadlineMs) &&
        aheadMs > 0 &&
        parsed.intervalDays >= 1 &&
        parsed.intervalDays <= 3_650 &&
        aheadMs <= parsed.intervalDays * dayMs
      );
    }),
  );
  for (const intervalDays of [0, -1, 1.5, 3_651, 1e300, Number.NaN, '30', true])
    t.false(isTaken({ intervalDays }));
  for (const deadline of [nowMs, nowMs - 1, 'tomorrow', '2026-13-01', '1', nowMs + 3_651 * dayMs, 1e300]) {
    t.false(isTaken({ intervalDays: undefined, deadline }), String(deadline));
  }
});
