import test from 'ava';
import { OverloadedError } from '../../runtime/errors.ts';
import { Downloads } from './downloads.ts';

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(1);
}

async function begun(downloads: Downloads, userUuid: string) {
  const bytes = downloads.counted(userUuid, endless());
  await bytes.next();
  return bytes;
}

test('an account has so many downloads at once, and another as many', async (t) => {
  const downloads = new Downloads();
  for (let count = 0; count < 32; count += 1) await begun(downloads, 'ann');
  await t.throwsAsync(begun(downloads, 'ann'), { instanceOf: OverloadedError });
  await t.notThrowsAsync(begun(downloads, 'bob'));
});

test('a download that ends, fails or is left makes room for the next', async (t) => {
  const downloads = new Downloads();
  for (let count = 0; count < 31; count += 1) await begun(downloads, 'ann');
  for (let round = 0; round < 3; round += 1) {
    const left = await begun(downloads, 'ann');
    await left.return();
    for await (const _ of downloads.counted('ann', (async function* () {})())) t.fail();
    const failing = downloads.counted(
      'ann',
      // biome-ignore lint/correctness/useYield: it fails before its first
      (async function* (): AsyncGenerator<Uint8Array> {
        throw new TypeError('the disk');
      })(),
    );
    await t.throwsAsync(failing.next(), { instanceOf: TypeError });
  }
});
