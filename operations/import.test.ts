import { status } from '@grpc/grpc-js';
import test from 'ava';
import { noChunks, withChunk } from '../actors/files/layout.ts';
import { FileStoreError } from '../actors/files/store.ts';
import { importHandlers } from './import.ts';

type Options = Parameters<typeof importHandlers>[0];

const uuid = crypto.randomUUID();

test('a file is read no longer than its caller waits for the digest', async (t) => {
  const layout = withChunk(noChunks, { number: 1, bytes: 5, nonce: '0123456789abcdef' });
  const file = { uploadUuid: uuid, storedUnder: uuid, bytes: 5, layout };
  const options = {
    actors: { get: () => ({ ask: { importShowFile: async () => ({ file }) } }) },
    fileStore: {
      async *read(_name: string, _range: object, signal: AbortSignal): AsyncGenerator<Uint8Array> {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new FileStoreError('aborted', signal.reason)));
        });
      },
    },
  };
  const { showFile } = importHandlers(options as unknown as Options);
  const owner = { isVault: false, uuid };
  const request = { owner, remoteIdentifier: uuid, withDigest: true };
  const error = await t.throwsAsync(showFile(request, { deadlineMs: 60_000, callerMs: 1 }));
  t.like(error, { code: status.UNAVAILABLE });
});
