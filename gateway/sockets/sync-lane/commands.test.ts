import test from 'ava';
import { RetryableError } from '../../../runtime/errors.ts';
import type { Actors } from '../../../runtime/handles.ts';
import { FakeClock } from '../../../test/kit/clock.ts';
import { LaneCommands } from './commands.ts';

/** Clients drop their socket after so long. */
const clientWaitsMs = 20_000;

test('a command that cannot be released either is answered while its client still waits', async (t) => {
  const clock = new FakeClock();
  const late = (_request: unknown, { deadlineMs }: { readonly deadlineMs: number }) =>
    new Promise<never>((_resolve, reject) => {
      const error = new RetryableError('the deadline passed before the turn', { outcome: 'none' });
      clock.schedule(deadlineMs, () => reject(error));
    });
  const ask = {
    holdSyncCommand: async () => ({ ok: { verdict: 'held' } }),
    sync: late,
    releaseSyncCommand: late,
  };
  const commands = new LaneCommands({
    actors: { get: () => ({ ask }) } as unknown as Actors,
    clock,
    random: { uuid: () => 'hold' },
    failed: (error) => t.fail(String(error)),
  });
  const frame = {
    type: 'COMMAND',
    requestId: 'request',
    commandId: 'command',
    digest: '0'.repeat(64),
    payload: { command: 'SYNC_ITEMS', body: {} },
  } as unknown as Parameters<LaneCommands['execute']>[0];
  const credentials = { userUuid: 'user', identifier: 'session' } as unknown as Parameters<
    LaneCommands['execute']
  >[1];
  let acceptedMs = Number.NaN;
  let answeredMs = Number.NaN;
  const answered = commands.execute(frame, credentials, () => {
    acceptedMs = clock.monotonicMs();
  });
  void answered.then(() => {
    answeredMs = clock.monotonicMs();
  });
  for (let second = 0; second < 40; second += 1) await clock.advance(1_000);
  t.is((await answered).payload, '{"code":"BACKEND_ERROR","retryable":true}');
  t.true(answeredMs - acceptedMs < clientWaitsMs);
});
