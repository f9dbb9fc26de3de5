import test from 'ava';
import { OverloadedError, UnavailableError } from '../../runtime/errors.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { AccessLog, type Log } from './access-log.ts';
import { reasonOf } from './errors.ts';
import type { AnyRoute } from './route.ts';

function setUp() {
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const nothing = () => undefined;
  const line = (fields: object) => void lines.push({ ...fields });
  const log = { debug: nothing, info: line, warn: line, error: nothing, isLevelEnabled: () => true } as Log;
  return { clock, lines, log: new AccessLog(log, clock) };
}

test('a 503 is logged with its cause, and many with one cause are one line a second', async (t) => {
  const { clock, lines, log } = setUp();
  const cause = new Error('53100 could not extend file');
  const full = reasonOf(new UnavailableError('the database cannot take this now', undefined, { cause }));
  for (let count = 0; count < 300; count += 1)
    log.answered({ route: undefined, status: 503, durationMs: 1, requestId: `r${count}`, reason: full });
  log.answered({
    route: undefined,
    status: 503,
    durationMs: 1,
    requestId: 'another',
    reason: reasonOf(new OverloadedError('too many messages wait')),
  });
  await clock.advance(1_000);
  log.answered({ route: undefined, status: 503, durationMs: 20.4, requestId: 'later', reason: full });
  t.deepEqual(
    lines.map(({ requestId, durationMs, reason, times }) => [requestId, durationMs, reason, times]),
    [
      ['r0', 1, 'unavailable: the database cannot take this now: 53100 could not extend file', 1],
      ['another', 1, 'overloaded: too many messages wait', 1],
      ['later', 20, 'unavailable: the database cannot take this now: 53100 could not extend file', 300],
    ],
  );
});

test('sockets that end without a close frame are one line a minute for each reason', async (t) => {
  const { clock, lines, log } = setUp();
  for (const reason of ['silent', 'silent', 'opening']) log.socketCut(reason);
  await clock.advance(59_000);
  log.socketCut('silent');
  await clock.advance(1_000);
  log.socketCut('silent');
  t.deepEqual(lines, [
    { reason: 'silent', times: 1 },
    { reason: 'opening', times: 1 },
    { reason: 'silent', times: 3 },
  ]);
});

test('unexpected errors get a line each', (t) => {
  const { lines, log } = setUp();
  for (let count = 0; count < 3; count += 1)
    log.answered({ route: undefined, status: 500, durationMs: 1, requestId: `r${count}`, reason: undefined });
  t.is(lines.length, 3);
});

test('refusals that a handler gave are one line a second for each route', async (t) => {
  const { clock, lines, log } = setUp();
  const answered = (path: string, status: number) =>
    log.answered({
      route: { method: 'POST', path } as AnyRoute,
      status,
      durationMs: 1,
      requestId: 'r',
      reason: undefined,
    });
  for (let count = 0; count < 300; count += 1) {
    answered('/v1/sockets/sync/ticket', 503);
    answered('/v1/sockets/tokens', 504);
  }
  await clock.advance(1_000);
  answered('/v1/sockets/tokens', 504);
  t.deepEqual(
    lines.map(({ route, status, times }) => [route, status, times]),
    [
      ['/v1/sockets/sync/ticket', 503, 1],
      ['/v1/sockets/tokens', 504, 1],
      ['/v1/sockets/tokens', 504, 300],
    ],
  );
});
