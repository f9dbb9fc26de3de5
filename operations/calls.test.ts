import { type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import test from 'ava';
import { Registry } from 'prom-client';
import { ClusterService } from '../proto/generated/scriptorium/v1/cluster.ts';
import { silentLogger } from '../runtime/ports.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { SeededRandom } from '../test/kit/random.ts';
import { Calls, type Handlers } from './calls.ts';

type Answer = Parameters<sendUnaryData<unknown>>;

/** Calls `rebalance` with this deadline; this handler answers. */
function callsOf(clock: FakeClock, rebalance: Handlers<ClusterService>['rebalance']) {
  const calls = new Calls({
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    registry: new Registry(),
  });
  const methods = calls.implement(ClusterService, { rebalance } as Handlers<ClusterService>);
  const handle = methods['rebalance'] as (call: unknown, answer: (...answer: Answer) => void) => void;
  return (deadline: Date | number = Number.POSITIVE_INFINITY) =>
    new Promise<Answer>((resolve) => {
      const call: Partial<ServerUnaryCall<object, object>> = { request: {}, getDeadline: () => deadline };
      handle(call, (...answer) => resolve(answer));
    });
}

test('calls beyond the bound are refused at once, and served again when others are through', async (t) => {
  const ends: (() => void)[] = [];
  const call = callsOf(new FakeClock(), () => new Promise((resolve) => ends.push(() => resolve({}))));
  const inFlight = Array.from({ length: 1_000 }, () => call());
  const [error] = await call();
  t.is(error?.code, status.RESOURCE_EXHAUSTED);
  for (const end of ends.splice(0)) end();
  for (const answer of await Promise.all(inFlight)) t.is(answer[0], null);
  const next = call();
  for (const end of ends) end();
  t.is((await next)[0], null);
});

test('actors are asked for as long as the caller waits, a minute at most; other work may take longer', async (t) => {
  const clock = new FakeClock();
  const seen: (readonly (number | undefined)[])[] = [];
  const call = callsOf(clock, async (_request, { deadlineMs, callerMs }) => {
    seen.push([deadlineMs, callerMs]);
    return {};
  });
  await call(new Date(clock.nowMs() + 400));
  await call(clock.nowMs() + 3_600_000);
  await call(new Date(clock.nowMs() - 5));
  await call();
  t.deepEqual(seen, [
    [400, 400],
    [60_000, 3_600_000],
    [0, 0],
    [undefined, undefined],
  ]);
});
