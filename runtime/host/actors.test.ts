import test from 'ava';
import fc from 'fast-check';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import {
  ActorError,
  FencedError,
  ForbiddenError,
  MovedError,
  NotFoundError,
  OverloadedError,
  promisesNothing,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../errors.ts';
import { Retrier } from './actors.ts';

const call = { address: { kind: 'counter', id: 'a' }, command: 'add', request: null, callId: 'one' };

const answers = (errors: readonly Error[], reachesOthers = true) => {
  const clock = new FakeClock();
  const left = [...errors];
  const callIds = new Set<string>();
  const transport = {
    reachesOthers,
    ask: ({ callId }: { readonly callId: string }) => {
      callIds.add(callId);
      const next = left.length > 1 ? left.shift() : left[0];
      return Promise.reject(next);
    },
  };
  const retrier = new Retrier({ transport, clock, random: new SeededRandom(1) });
  const pending = retrier.ask({ ...call, deadlineMs: clock.monotonicMs() + 1_000 });
  return { clock, pending, callIds };
};

const nobody = new MovedError('nobody listens', { reachedNobody: true });

test('a call that never reached anybody certainly has no effect', async (t) => {
  const { clock, pending } = answers([nobody]);
  const failed = t.throwsAsync(pending, { instanceOf: UnavailableError });
  await clock.advance(2_000);
  await failed;
});

for (const [what, error] of [
  ['a former owner', new MovedError('not mine')],
  ['a fenced owner', new FencedError('a newer owner holds it')],
  ['an owner whose answer was lost', new RetryableError('lost', { outcome: 'unknown' })],
] as const) {
  test(`a call that reached ${what} may have had an effect, whatever is said of it afterwards`, async (t) => {
    for (const last of [nobody, new UnavailableError('not now'), new FencedError('newer')]) {
      const { clock, pending, callIds } = answers([error, last]);
      const failed = t.throwsAsync(pending, { instanceOf: RetryableError });
      await clock.advance(2_000);
      t.is((await failed)?.outcome, 'unknown');
      t.deepEqual([...callIds], ['one']);
    }
  });
}

test('where there is no other process a rejection is the whole truth', async (t) => {
  const { pending } = answers([new MovedError('not now')], false);
  await t.throwsAsync(pending, { instanceOf: UnavailableError });
});

const anyError = fc.constantFrom<() => ActorError>(
  () => nobody,
  () => new MovedError('not mine'),
  () => new FencedError('a newer owner holds it'),
  () => new RetryableError('lost', { outcome: 'unknown', retryAfterMs: 20 }),
  () => new RetryableError('not begun', { outcome: 'none', retryAfterMs: 20 }),
  () => new OverloadedError('too much', 20),
  () => new UnavailableError('not now', 20),
  () => new TerminalError('wrong'),
  () => new NotFoundError('no such actor'),
  () => new ForbiddenError('not allowed'),
);

test('no caller is told that its call moved, or that nothing took effect when something may have', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyError, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 300 }),
      async (errors, withinMs) => {
        const met: unknown[] = [];
        const clock = new FakeClock();
        const transport = {
          reachesOthers: true,
          ask: () => {
            const error = (errors[met.length] ?? errors.at(-1))?.();
            met.push(error);
            return Promise.reject(error);
          },
        };
        const retrier = new Retrier({ transport, clock, random: new SeededRandom(1) });
        let failure: unknown;
        retrier.ask({ ...call, deadlineMs: withinMs }).catch((error) => {
          failure = error;
        });
        await clock.advance(withinMs);
        t.true(failure instanceof ActorError && !(failure instanceof MovedError));
        const isUnknown = (error: unknown) => error instanceof RetryableError && error.outcome === 'unknown';
        if (met.some(isUnknown)) t.false(promisesNothing(failure), `${met} was told as ${failure}`);
      },
    ),
  );
});

test('a call goes on being made while there is time, with pauses that grow and that differ between callers', async (t) => {
  const clock = new FakeClock();
  const random = new SeededRandom(1);
  const delays: number[][] = [[], []];
  for (const times of delays) {
    const transport = {
      reachesOthers: true,
      ask: () => {
        times.push(clock.monotonicMs());
        return Promise.reject(nobody);
      },
    };
    const ended = new Retrier({ transport, clock, random }).ask({ ...call, deadlineMs: 5_000 });
    ended.catch(() => undefined);
  }
  await clock.advance(5_000);
  for (const times of delays) {
    const pauses = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    t.true(
      pauses.slice(0, 3).every((pauseMs) => pauseMs < 40),
      pauses.join(),
    );
    t.true(Math.max(...pauses) <= 600);
    t.true((times.at(-1) ?? 0) > 4_300, String(times.at(-1)));
    t.true(times.length < 40);
  }
  t.notDeepEqual(delays[0], delays[1]);
});

test('so many calls may wait for an owner, and no more', async (t) => {
  const clock = new FakeClock();
  const transport = { reachesOthers: true, ask: () => Promise.reject(nobody) };
  const retrier = new Retrier({ transport, clock, random: new SeededRandom(1) });
  let rejected = 0;
  for (let index = 0; index < 10_100; index += 1) {
    retrier.ask({ ...call, deadlineMs: 1_000 }).catch(() => {
      rejected += 1;
    });
  }
  await drainPromises();
  t.is(rejected, 100);
});

test('a caller that waits no more makes room for another', async (t) => {
  const clock = new FakeClock();
  let answers = () => Promise.reject<unknown>(nobody);
  const transport = { reachesOthers: true, ask: () => answers() };
  const retrier = new Retrier({ transport, clock, random: new SeededRandom(1) });
  const waiting = Array.from({ length: 10_000 }, () => retrier.ask({ ...call, deadlineMs: 1_000 }));
  await drainPromises();
  answers = () => Promise.resolve('done');
  await clock.advance(500);
  t.deepEqual(new Set(await Promise.all(waiting)), new Set(['done']));
  answers = () => Promise.reject(nobody);
  const another = retrier.ask({ ...call, deadlineMs: 2_000 });
  await drainPromises();
  answers = () => Promise.resolve('done too');
  await clock.advance(500);
  t.is(await another, 'done too');
});
