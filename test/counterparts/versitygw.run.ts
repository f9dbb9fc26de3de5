/** The contract of stores of files, with an S3 server that keeps its objects in a folder. */
import test, { type ExecutionContext } from 'ava';
import { openS3, type S3Options } from '../../actors/files/s3.ts';
import type { OpenFileStore } from '../../actors/files/store.ts';
import { systemClock } from '../../runtime/clock.ts';
import { chunkBytes, content, nameOf, names, read, write } from '../files/blobs.ts';
import { contractOfFileStores, failsWith } from '../files/contract.ts';
import { s3Credentials, s3Region } from '../kit/s3-server.ts';
import { startVersitygw, type Versitygw } from '../kit/versitygw.ts';

let server: Versitygw;
let buckets = 0;

test.before('the server of S3 is started', async () => {
  server = await startVersitygw();
});
test.after.always('and stopped', () => server?.stop());

function storeOf(t: ExecutionContext, options: Partial<S3Options>): OpenFileStore {
  const common = { endpoint: server.endpoint, region: s3Region, ...s3Credentials, isPathStyle: true };
  const store = openS3({ ...common, bucket: 'files', clock: systemClock, ...options });
  t.teardown(() => store.close());
  return store;
}

async function opened(t: ExecutionContext): Promise<OpenFileStore> {
  buckets += 1;
  const bucket = `files-${buckets}`;
  await server.bucket(bucket);
  return storeOf(t, { bucket });
}

contractOfFileStores('Versity S3 Gateway 1.8.0', opened, { keepsParts: true });

test('a bucket that is not there, and keys that are wrong, are no blob that is missing', async (t) => {
  await opened(t);
  for (const options of [{ bucket: 'nobody-made-it' }, { bucket: 'files-1', secretAccessKey: 'wrong' }]) {
    const store = storeOf(t, options);
    await failsWith(t, 'unavailable', () => write(store, nameOf(1), content(10)));
    await failsWith(t, 'unavailable', () => read(store, nameOf(1), 0, 1));
    await failsWith(t, 'unavailable', () => store.remove([nameOf(1)]));
    await failsWith(t, 'unavailable', () => names(store));
    t.is(await store.condition(), 'away');
  }
});

test.serial('a blob is still there after the server was killed and comes back', async (t) => {
  const store = await opened(t);
  const whole = content(chunkBytes);
  await write(store, nameOf(1), whole);
  await server.kill();
  await failsWith(t, 'unavailable', () => read(store, nameOf(1), 0, 1));
  t.is(await store.condition(), 'away');
  await server.start();
  t.true(whole.equals(await read(store, nameOf(1), 0, whole.length)));
  t.is(await store.condition(), 'good');
});
