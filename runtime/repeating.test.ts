import test from 'ava';
import { FakeClock } from '../test/support/clock.ts';
import { SeededRandom } from '../test/support/random.ts';
import { FencedError, MovedError, RetryableError, UnavailableError } from './errors.ts';
import { Repeating } from './repeating.ts';

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
  const repeating = new Repeating({ transport, clock, random: new SeededRandom(1) });
  const asked = repeating.ask({
    address: { kind: 'counter', id: 'a' },
    command: 'add',
    request: null,
    callId: 'one',
    deadlineMs: clock.monotonicMs() + 1_000,
  });
  return { clock, asked, callIds };
};

const nobody = new MovedError('nobody listens', { reachedNobody: true });

test('a call that never reached anybody certainly has no effect', async (t) => {
  const { clock, asked } = answers([nobody]);
  const failed = t.throwsAsync(asked, { instanceOf: UnavailableError });
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
      const { clock, asked, callIds } = answers([error, last]);
      const failed = t.throwsAsync(asked, { instanceOf: RetryableError });
      await clock.advance(2_000);
      t.is((await failed)?.outcome, 'unknown');
      t.deepEqual([...callIds], ['one']);
    }
  });
}

test('where there is no other process a refusal is the whole truth', async (t) => {
  const { asked } = answers([new MovedError('not now')], false);
  await t.throwsAsync(asked, { instanceOf: UnavailableError });
});
