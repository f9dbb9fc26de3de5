/** Anonymous clients against the audit trail of an account. */
import test from 'ava';
import { signIn } from '../kit/account.ts';
import { startServer } from '../kit/server.ts';

const hourMs = 3_600_000;

test('a stranger who guesses once an hour fills one event a day', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (let hour = 0; hour < 36; hour += 1) {
    await signIn(server, { password: 'x' }, { headers: { 'x-forwarded-for': `198.51.100.${hour}` } });
    await server.clock.leap(hourMs);
  }
  const { body } = await phone.call('GET', `/v1/users/${phone.account.userUuid}/audit-trail`);
  const counts = body.events.map(({ event, times }: { event: string; times: number }) => [event, times]);
  t.deepEqual(counts, [
    ['sign-in-failed', 12],
    ['sign-in-failed', 24],
    ['registered', 1],
  ]);
});
