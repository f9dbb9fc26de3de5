/** The chunks of a reply's source, checked before they go out. */
import { setImmediate } from 'node:timers/promises';
import type { ReplyStream } from './route.ts';

/** After this many bytes from a source that never waits, the loop turns. */
const turnBytes = 1024 * 1024;

/**
 * Opens the source when the first chunk is wanted. No chunk is empty, and together they are as long as declared.
 * `waits` hears when we start and stop waiting for the source.
 *
 * @throws TypeError before a reply of another length goes out
 */
export async function* chunksOf(
  { open, lengthBytes }: ReplyStream,
  waits: (isWaiting: boolean) => void,
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  let turnedAtBytes = 0;
  waits(true);
  for await (const chunk of open()) {
    if (chunk.byteLength === 0) continue;
    bytes += chunk.byteLength;
    if (lengthBytes !== undefined && bytes > lengthBytes)
      throw new TypeError('a reply is longer than it said');
    waits(false);
    yield chunk;
    waits(true);
    if (bytes - turnedAtBytes < turnBytes) continue;
    turnedAtBytes = bytes;
    await setImmediate();
  }
  waits(false);
  if (lengthBytes !== undefined && bytes < lengthBytes)
    throw new TypeError('a reply is shorter than it said');
}
