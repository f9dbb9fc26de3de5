import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { PermissionRecheck } from './permission.ts';
import { type HttpRefusal, refusals } from './refusal.ts';

/** A running request, checked every second. */
function goingOn(ask: () => Promise<HttpRefusal | undefined>) {
  const clock = new FakeClock();
  const ended: HttpRefusal[] = [];
  let calls = 0;
  const counted = () => {
    calls += 1;
    return ask();
  };
  const permission = new PermissionRecheck(counted, clock, (refusal) => ended.push(refusal));
  const after = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1_000);
      permission.overdue(clock.monotonicMs());
    }
    await clock.advance(0);
    return { calls, ended };
  };
  return { after };
}

test('a request of a few seconds asks nobody', async (t) => {
  const { after } = goingOn(async () => undefined);
  t.deepEqual(await after(4), { calls: 0, ended: [] });
});

test('it is asked every five seconds, one question at a time, and goes on while it may', async (t) => {
  const { after } = goingOn(async () => undefined);
  t.deepEqual(await after(60), { calls: 12, ended: [] });
  const hanging = goingOn(() => new Promise(() => {}));
  t.is((await hanging.after(20)).calls, 1);
});

test('it ends with the refusal that it is answered', async (t) => {
  const { after } = goingOn(async () => refusals.invalidAuth);
  t.deepEqual((await after(6)).ended, [refusals.invalidAuth]);
});

test('a transfer that nobody permits for thirty seconds ends, and one answer in between lets it go on', async (t) => {
  const silent = goingOn(() => Promise.reject(new Error('unavailable')));
  t.deepEqual((await silent.after(29)).ended, []);
  t.deepEqual((await silent.after(1)).ended, [refusals.noAnswer]);
  let count = 0;
  const shaky = goingOn(async () => {
    count += 1;
    if (count % 4 !== 0) throw new Error('unavailable');
    return undefined;
  });
  t.deepEqual((await shaky.after(120)).ended, []);
});
