/** One account sends more reads at once than all others together. Others notice a short delay and nothing else. */
import test from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import { startDatabaseHost } from '../kit/database-host.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { counterKind } from '../simulation/counter.ts';

const flood = 1_400;
const rounds = 3;
const neighbours = Array.from({ length: 24 }, (_, index) => `neighbour-${index}`);
const neighbourWaitMaxMs = 3_000;

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

test('1,400 reads of one account at a time fail no neighbour, and what is refused says which limit it met', async (t) => {
  const { actors, host } = await startDatabaseHost(t, server);
  const bump = (id: string, op: string) => actors.get(counterKind, id).ask.bump({ op, name: op });
  const peek = () => actors.get(counterKind, 'ada').ask.peek({ after: 0 });
  await Promise.all(['ada', ...neighbours].map((id) => bump(id, 'first')));

  const counts = { answered: 0, refused: 0 };
  const flooding = Array.from({ length: flood }, async () => {
    for (let round = 0; round < rounds; round += 1) {
      await peek().then(
        ({ tallies }) => {
          t.is(tallies.length, 1);
          counts.answered += 1;
        },
        (error: unknown) => {
          t.true(
            error instanceof OverloadedError && error.message.includes('reads of this actor'),
            `${error}`,
          );
          counts.refused += 1;
        },
      );
    }
  });
  const sentMs = systemClock.monotonicMs();
  for (const op of ['second', 'third', 'fourth']) {
    t.deepEqual(
      await Promise.all(neighbours.map((id) => bump(id, op))),
      neighbours.map(() => op),
    );
  }
  t.true(systemClock.monotonicMs() - sentMs < neighbourWaitMaxMs);
  await Promise.all(flooding);
  t.true(counts.answered > 0 && counts.refused > 0);
  t.is(counts.answered + counts.refused, flood * rounds);
  t.true(host.isIdle);
});
