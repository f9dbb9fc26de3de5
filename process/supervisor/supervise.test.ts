/** What a supervisor does and logs if it cannot release the lease of its dead server, or cannot notify the other nodes. */
import test from 'ava';
import { memoryLogger } from '../../test/kit/memory-logger.ts';
import { StartError, serverExitCodes } from '../start-error.ts';
import { logUnreleased, releaseAndHint } from './supervise.ts';

const noHints = () => Promise.reject(new Error('NATS is away'));

test('a lease that was released counts as released, even if NATS is unreachable', async (t) => {
  const { lines, logger } = memoryLogger();
  await t.notThrowsAsync(releaseAndHint({ release: async () => {}, openHints: noHints, logger }));
  t.is(lines.length, 1);
  t.true(lines[0]?.includes('the other nodes were not notified of the dead server'));
});

test('a release that is still pending is waited for when NATS has failed', async (t) => {
  const { logger } = memoryLogger();
  const did: string[] = [];
  let resolve: () => void = () => {};
  const pending = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  const released = releaseAndHint({ release: () => pending, openHints: noHints, logger }).then(
    () => did.push('settled'),
    () => did.push('settled'),
  );
  await new Promise(setImmediate);
  did.push('released');
  resolve();
  await released;
  t.deepEqual(did, ['released', 'settled']);
});

test('the other nodes are notified only once the lease is released', async (t) => {
  const { lines, logger } = memoryLogger();
  const hints: unknown[] = [];
  const openHints = async () => ({ hint: (hint: unknown) => void hints.push(hint) });
  await releaseAndHint({ release: async () => void t.deepEqual(hints, []), openHints, logger });
  t.deepEqual(hints, [{ hint: 'nodes' }]);
  const error = new Error('the database is away');
  await t.throwsAsync(releaseAndHint({ release: () => Promise.reject(error), openHints, logger }), {
    is: error,
  });
  t.is(hints.length, 1);
  t.deepEqual(lines, []);
});

test('the log leaves the lease to a server that already holds the data directory', (t) => {
  const { lines, logger } = memoryLogger();
  logUnreleased(logger, new StartError('Another server is running', serverExitCodes.inUse));
  logUnreleased(logger, new Error('the database is away'));
  t.true(lines[0]?.includes('another server holds the data directory'));
  t.true(lines[1]?.includes('was not released: it ends by itself'));
});
