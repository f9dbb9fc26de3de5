import { Buffer } from 'node:buffer';
import test from 'ava';
import fc from 'fast-check';
import addressparser from 'nodemailer/lib/addressparser';
import { hasControl, mailAddress, namedAddress, namedAddressText } from './address.ts';
import { compose } from './smtp.ts';

const good: readonly (readonly [string, string])[] = [
  ['ann@example.test', 'ann@example.test'],
  ['Ann.B+notes@Example.TEST', 'Ann.B+notes@example.test'],
  ["o'hara_1@a-b.example", "o'hara_1@a-b.example"],
  ['ann@bücher.example', 'ann@xn--bcher-kva.example'],
  ['ann@localhost', 'ann@localhost'],
];
for (const [input, address] of good) {
  test(`${input} is an address`, (t) => {
    t.is(mailAddress(input), address);
  });
}

const wrong = [
  ...['', 'ann', '@example.test', 'ann@', 'ann@@example.test', 'a b@example.test', '.ann@example.test'],
  ...['ann.@example.test', 'a..b@example.test', 'ann@-x.test', 'ann@x_y.test', 'ann@[127.0.0.1]'],
  ...['a@x.test,b@x.test', 'a@x.test, b@x.test', 'a@x.test;b@x.test', 'a@x.test b@x.test', 'g:a@x.test;'],
  ...['Ann <ann@x.test>', '<ann@x.test>', '"a b"@x.test', 'ann(x)@x.test', 'ann@x.test(x)', 'ann\\@x.test'],
  ...['ann@x.test\r\nBcc: b@x.test', 'ann@x.te\nst', 'ann\r@x.test', 'ann@x.test\u0000', 'ann@x.te\tst'],
  ...[
    'ann@127.1',
    'ann@1.2.3.4',
    'ann@0x7f',
    'ann@x.12',
    'ann@%65xample.test',
    'ann@x.test/y',
    'ann@x.test.',
  ],
  ...['ännä@x.test', `${'a'.repeat(65)}@x.test`, `a@${'b'.repeat(250)}.test`, 'a@x\u2028.test'],
];
for (const input of wrong) {
  test(`${JSON.stringify(input)} is no address`, (t) => {
    t.is(mailAddress(input), undefined);
  });
}

const nasty = fc.string({
  unit: fc.constantFrom(...'ab.@,;:<>()[]"\\ \r\n\t\u0000é0%-+_=?ß\u2028'),
  maxLength: 30,
});
const likeAddress = fc.oneof(
  nasty,
  fc.tuple(nasty, nasty).map(([local, host]) => `${local}@${host}`),
  fc.tuple(fc.emailAddress(), nasty, fc.emailAddress()).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => `a${text}@x.test`),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => `a@x${text}.test`),
);

test('an accepted address is one address and one line to a mail library too', (t) => {
  fc.assert(
    fc.property(likeAddress, (input) => {
      const address = mailAddress(input);
      if (address === undefined) return;
      t.regex(address, /^[\x21-\x7e]{3,254}$/);
      t.deepEqual(addressparser(address), [{ address, name: '' }]);
      t.is(mailAddress(address), address);
    }),
    { numRuns: 2_000 },
  );
});

test('a sender with a name is read as it was written, and is one header', (t) => {
  t.deepEqual(namedAddress('Notes <notes@home.test>'), { name: 'Notes', address: 'notes@home.test' });
  t.deepEqual(namedAddress(' "The Notes, Ltd." <notes@home.test> '), {
    name: 'The Notes, Ltd.',
    address: 'notes@home.test',
  });
  fc.assert(
    fc.property(nasty, likeAddress, (name, address) => {
      const found = namedAddress(`${name} <${address}>`);
      if (found === undefined) return;
      t.false(hasControl(namedAddressText(found)));
      const [parsed, ...others] = addressparser(namedAddressText(found));
      t.is(parsed?.address, found.address);
      t.deepEqual(others, []);
    }),
    { numRuns: 2_000 },
  );
});

test('no subject, sender or text makes a header of its own, or another part', async (t) => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(text, text, async (subject, body) => {
      const composed = await compose({
        from: { name: 'Notes, and "more"', address: 'notes@home.test' },
        recipient: 'ann@example.test',
        subject,
        text: `${body}\r\n\r\nBcc: b@x.test\r\n`,
        dateMs: 0,
        messageId: '<one@home.test>',
      }).build();
      const [head = ''] = Buffer.from(composed).toString('latin1').split('\r\n\r\n');
      const names = head
        .split('\r\n')
        .filter((line) => !/^[ \t]/.test(line))
        .map((line) => line.split(':')[0]);
      t.deepEqual(
        names.toSorted(),
        [
          'Auto-Submitted',
          'Content-Transfer-Encoding',
          'Content-Type',
          'Date',
          'From',
          'MIME-Version',
          'Message-ID',
          'Subject',
          'To',
        ].filter((name) => name !== 'Subject' || names.includes('Subject')),
      );
    }),
    { numRuns: 300 },
  );
});

test('a message takes nothing from files or addresses', async (t) => {
  for (const text of ['file:///etc/passwd', '/etc/passwd', 'http://127.0.0.1:1/', 'data:text/plain,x']) {
    const composed = await compose({
      from: { name: '', address: 'notes@home.test' },
      recipient: 'ann@example.test',
      subject: text,
      text,
      dateMs: 0,
      messageId: '<one@home.test>',
    }).build();
    t.true(composed.toString().includes(text));
  }
});
