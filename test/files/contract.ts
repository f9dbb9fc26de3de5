/** The promises of every store of files to its users. One suite, run on each adapter. */
import test, { type ExecutionContext } from 'ava';
import { type FileStore, FileStoreError, type FileStoreFailure } from '../../actors/files/store.ts';
import { until } from '../kit/until.ts';
import {
  chunkBytes,
  content,
  inPieces,
  nameOf,
  names,
  owner,
  read,
  unstopped,
  upload,
  write,
} from './blobs.ts';

export async function failsWith(
  t: ExecutionContext,
  failure: FileStoreFailure,
  work: () => Promise<unknown>,
): Promise<void> {
  const error = await t.throwsAsync(work, { instanceOf: FileStoreError });
  t.is(error?.failure, failure, String(error?.cause));
}

/** Nothing of a write remains, neither at once nor after its own cleanup. */
async function isLeftAlone(t: ExecutionContext, store: FileStore, name: string): Promise<void> {
  await failsWith(t, 'missing', () => read(store, name, 0, 1));
  t.deepEqual(await names(store), []);
}

/** A part of it may remain, which a removal also removes. */
async function isRemovable(t: ExecutionContext, store: FileStore, name: string): Promise<void> {
  await until(async () => {
    await store.remove([name]);
    return (await names(store)).length === 0;
  });
  await isLeftAlone(t, store, name);
}

/**
 * Runs the suite, each test on a separate empty store. `keepsParts`: whether a body that breaks off may leave parts.
 */
export function contractOfFileStores(
  adapter: string,
  open: (t: ExecutionContext) => Promise<FileStore>,
  { keepsParts = false } = {},
): void {
  const isUndone = keepsParts ? isRemovable : isLeftAlone;
  const promise = (title: string, body: (t: ExecutionContext, store: FileStore) => Promise<void>) =>
    test(`${adapter}: ${title}`, async (t) => body(t, await open(t)));

  promise('a written blob is read, whole and by ranges', async (t, store) => {
    const whole = content(chunkBytes);
    await write(store, nameOf(1), whole);
    t.true(whole.equals(await read(store, nameOf(1), 0, chunkBytes)));
    for (const [start, end] of [
      [0, 1],
      [chunkBytes - 1, chunkBytes],
      [65_535, 65_537],
      [1_000_000, 3_000_001],
    ] as const) {
      t.true(whole.subarray(start, end).equals(await read(store, nameOf(1), start, end)), `${start}-${end}`);
    }
  });

  promise('a written blob is persisted, as often as one likes', async (t, store) => {
    const blobs = [1, 2].map((number) => ({ name: nameOf(number), bytes: 10 }));
    for (const { name, bytes } of blobs) await write(store, name, content(bytes));
    await store.persist([]);
    for (let time = 0; time < 2; time += 1) await store.persist(blobs);
    t.deepEqual(await names(store), blobs.map(({ name }) => name).sort());
  });

  promise('the smallest and the largest chunk are written, in pieces of any size', async (t, store) => {
    const byte = content(1);
    await write(store, nameOf(1), byte);
    t.deepEqual(await read(store, nameOf(1), 0, 1), byte);
    const large = content(50 * 1_048_576);
    await store.write(nameOf(2), inPieces(large, 1_000_003), {
      owner,
      bytes: large.length,
      signal: unstopped,
    });
    t.true(large.equals(await read(store, nameOf(2), 0, large.length)));
    const small = content(10_000);
    await store.write(nameOf(3), inPieces(small, 7), { owner, bytes: small.length, signal: unstopped });
    t.true(small.equals(await read(store, nameOf(3), 0, small.length)));
  });

  promise('a body may use its memory again for each piece', async (t, store) => {
    const whole = content(3_000_000);
    for (const pieceBytes of [1_000, 300_000, 524_288]) {
      const memory = Buffer.alloc(pieceBytes);
      const reusing = async function* () {
        for await (const piece of inPieces(whole, pieceBytes)) {
          memory.set(piece);
          yield memory.subarray(0, piece.byteLength);
          memory.fill(0xee);
        }
      };
      await store.write(nameOf(pieceBytes), reusing(), { owner, bytes: whole.length, signal: unstopped });
      t.true(whole.equals(await read(store, nameOf(pieceBytes), 0, whole.length)), `${pieceBytes}`);
    }
  });

  promise('a name may come after the body, and a blob is there no sooner', async (t, store) => {
    const whole = content(300_000);
    let named = (_: string): void => undefined;
    const naming = new Promise<string>((resolve) => {
      named = resolve;
    });
    const writing = store.write(naming, inPieces(whole), { owner, bytes: whole.length, signal: unstopped });
    t.deepEqual(await names(store), []);
    named(nameOf(1));
    await writing;
    t.true(whole.equals(await read(store, nameOf(1), 0, whole.length)));
  });

  promise('a body whose name does not come, or is none, leaves nothing', async (t, store) => {
    const refusals = [() => Promise.reject(new Error('refused')), async () => 'a/../b'];
    for (const refused of refusals) {
      await failsWith(t, 'aborted', () =>
        store.write(refused(), inPieces(content(300_000)), { owner, bytes: 300_000, signal: unstopped }),
      );
    }
    t.deepEqual(await names(store), []);
  });

  promise('chunks of many uploads are written at once and kept apart', async (t, store) => {
    const chunks = Array.from({ length: 24 }, (_, number) => ({
      name: nameOf(number, { in: `0a3c5e7f-0000-4000-8000-00000000000${number % 3}` }),
      whole: content(300_000 + number, number),
    }));
    await Promise.all(chunks.map(({ name, whole }) => write(store, name, whole)));
    const same = await Promise.all(
      chunks.map(async ({ name, whole }) => whole.equals(await read(store, name, 0, whole.length))),
    );
    t.true(same.every(Boolean));
  });

  promise('a blob that is absent, or not that long, is missing', async (t, store) => {
    await failsWith(t, 'missing', () => read(store, nameOf(1), 0, 1));
    await write(store, nameOf(1), content(10));
    await failsWith(t, 'missing', () => read(store, nameOf(1), 0, 11));
    await failsWith(t, 'missing', () => read(store, nameOf(1), 10, 11));
    await failsWith(t, 'missing', () => read(store, nameOf(2), 0, 1));
  });

  promise('a body that is shorter or longer than announced leaves nothing', async (t, store) => {
    const whole = content(300_000);
    for (const bytes of [299_999, 300_001, 1]) {
      await failsWith(t, 'aborted', () =>
        store.write(nameOf(1), inPieces(whole), { owner, bytes, signal: unstopped }),
      );
      await isUndone(t, store, nameOf(1));
    }
    await failsWith(t, 'aborted', () =>
      store.write(nameOf(1), inPieces(content(0)), { owner, bytes: 1, signal: unstopped }),
    );
    await isUndone(t, store, nameOf(1));
  });

  promise('a body that fails leaves nothing, even after its last byte', async (t, store) => {
    const whole = content(300_000);
    for (const until of [0, 100_000, whole.length]) {
      const failing = async function* () {
        yield* inPieces(whole.subarray(0, until));
        throw new Error('the client has gone');
      };
      await failsWith(t, 'aborted', () =>
        store.write(nameOf(1), failing(), { owner, bytes: whole.length, signal: unstopped }),
      );
      await isUndone(t, store, nameOf(1));
    }
  });

  promise('a write that is stopped ends at once, closes its body and leaves nothing', async (t, store) => {
    const whole = content(300_000);
    for (const until of [0, 100_000, whole.length]) {
      const stop = new AbortController();
      let closed = false;
      const hanging = async function* () {
        try {
          yield* inPieces(whole.subarray(0, until));
          setImmediate(() => stop.abort());
          await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
        } finally {
          closed = true;
        }
      };
      await failsWith(t, 'aborted', () =>
        store.write(nameOf(1), hanging(), { owner, bytes: whole.length, signal: stop.signal }),
      );
      await isUndone(t, store, nameOf(1));
      t.true(closed);
    }
    await failsWith(t, 'aborted', () => write(store, nameOf(1), whole, AbortSignal.abort()));
    await isUndone(t, store, nameOf(1));
  });

  promise('a reader that leaves or is stopped frees what it read from', async (t, store) => {
    const whole = content(2_000_000);
    await write(store, nameOf(1), whole);
    for await (const piece of store.read(nameOf(1), { start: 0, end: whole.length }, unstopped)) {
      t.true(whole.subarray(0, piece.byteLength).equals(piece));
      break;
    }
    const stop = new AbortController();
    await failsWith(t, 'aborted', async () => {
      for await (const _ of store.read(nameOf(1), { start: 0, end: whole.length }, stop.signal)) stop.abort();
    });
    await failsWith(t, 'aborted', () => read(store, nameOf(1), 0, 1, AbortSignal.abort()));
  });

  promise('a removed blob is gone, and an absent one needs no removal', async (t, store) => {
    const all = [nameOf(1), nameOf(2), nameOf(3, { in: '0a3c5e7f-0000-4000-8000-0000000000bb' })] as const;
    for (const name of all) await write(store, name, content(10));
    await store.remove([all[0], all[2], nameOf(9)]);
    t.deepEqual(await names(store), [all[1]]);
    await failsWith(t, 'missing', () => read(store, all[0], 0, 1));
    await store.remove([all[0], all[1]]);
    await store.remove([]);
    t.deepEqual(await names(store), []);
    await write(store, all[0], content(10));
    t.deepEqual(await names(store), [all[0]]);
  });

  promise('more than a thousand are removed at once', async (t, store) => {
    const many = Array.from({ length: 1_003 }, (_, number) => nameOf(number));
    for (const number of [0, 999, 1_000, 1_002]) await write(store, nameOf(number), content(1));
    await store.remove(many);
    t.deepEqual(await names(store), []);
  });

  promise('a list is in the order of names, in pages, under a prefix', async (t, store) => {
    const other = '0a3c5e7f-0000-4000-8000-000000000002';
    const uploads = ['0a3c5e7f-0000-4000-8000-0000000000aa', '0a3c5e7f-0000-4000-8000-0000000000ab'];
    const all = [owner, other].flatMap((of) =>
      uploads.flatMap((within) => [0, 1, 2, 10].map((number) => nameOf(number, { of, in: within }))),
    );
    for (const name of all) await write(store, name, content(7));
    const ordered = [...all].sort();
    const paged: string[] = [];
    for (let after: string | undefined; ; after = paged.at(-1)) {
      const page = await store.list({ prefix: '', limit: 3, ...(after !== undefined && { after }) });
      paged.push(...page.map(({ name }) => name));
      if (page.length < 3) break;
    }
    t.deepEqual(paged, ordered);
    t.deepEqual(
      await names(store, `${other}/`),
      ordered.filter((name) => name.startsWith(other)),
    );
    t.deepEqual(
      await names(store, `${owner}/${uploads[1]}/`),
      ordered.filter((name) => name.startsWith(`${owner}/${uploads[1]}`)),
    );
    t.deepEqual(await names(store, `${owner}/0a3c5e7f-0000-4000-8000-0000000000ac/`), []);
    const [first] = await store.list({ prefix: '', limit: 1 });
    t.is(first?.bytes, 7);
    t.is(typeof first?.writtenMs, 'number');
  });

  promise('no other name reaches the store', async (t, store) => {
    const random = 'a'.repeat(32);
    const wrong = [
      '',
      '..',
      `${owner}/${upload}/..`,
      `../${upload}/1.${random}`,
      `${owner}/../1.${random}`,
      `${owner}/${upload}/1.${random}/x`,
      `${owner}/${upload}/01.${random}`,
      `${owner}/${upload}/-1.${random}`,
      `${owner}/${upload}/1.${'A'.repeat(32)}`,
      `${owner}/${upload}/1.${random}\0`,
      `${owner}/${upload}/1.${random}\n`,
      `${owner.toUpperCase()}/${upload}/1.${random}`,
      `${owner}/${upload}/1.short`,
    ];
    for (const name of wrong) {
      await t.throwsAsync(() => write(store, name, content(1)), { instanceOf: TypeError }, name);
      await t.throwsAsync(() => read(store, name, 0, 1), { instanceOf: TypeError }, name);
      await t.throwsAsync(() => store.remove([nameOf(1), name]), { instanceOf: TypeError }, name);
      await t.throwsAsync(async () => store.list({ prefix: '', after: name, limit: 1 }), {
        instanceOf: TypeError,
      });
    }
    for (const prefix of ['/', '..', '../', owner, `${owner}/..`, `${owner}/${upload}`, `${owner}/x/`])
      await t.throwsAsync(async () => store.list({ prefix, limit: 1 }), { instanceOf: TypeError }, prefix);
    await t.throwsAsync(() => read(store, nameOf(1), 1, 1), { instanceOf: TypeError });
    await t.throwsAsync(() => read(store, nameOf(1), -1, 1), { instanceOf: TypeError });
    t.deepEqual(await names(store), []);
  });
}
