import { PassThrough } from 'node:stream';
import test from 'ava';
import { readSecretLine } from './secret-line.ts';

const nothing = () => {};

/** A terminal that records whether it echoes. */
function terminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  return { input, modes };
}

test('a secret typed at a terminal is read to the end of its line, while the terminal echoes nothing', async (t) => {
  const { input, modes } = terminal();
  const typed = `https://notes.example.test/?code=${'c'.repeat(5_000)}`;
  const line = await readSecretLine(input, () => void input.write(`${typed}\r`));
  t.is(line, typed);
  t.deepEqual(modes, [true, false]);
});

test('giving up at the terminal counts as typing nothing', async (t) => {
  const { input, modes } = terminal();
  t.is(await readSecretLine(input, () => void input.write('secret\u0003')), '');
  t.deepEqual(modes, [true, false]);
});

test('a pipe is read to the end of its first line', async (t) => {
  const input = new PassThrough();
  input.end('first\nsecond\n');
  t.is(await readSecretLine(input, nothing), 'first');
});

test('an empty pipe is an empty line', async (t) => {
  const input = new PassThrough();
  input.end();
  t.is(await readSecretLine(input, nothing), '');
});
