/** A switch whose deadline comes, and a host that dies around each of its commits: the mail is sent once, or recalled. */
import test, { type ExecutionContext } from 'ava';
import { atEveryCommit, Death } from '../kit/death.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

const path = '/v1/dead-man-switches';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Makes a switch and lives until shortly before its deadline. */
async function startScene(t: ExecutionContext) {
  const death = new Death();
  const postbox = new Postbox();
  const server = await startServer(t, { ...mailTo(postbox), host: { schedule: death.schedule } });
  const phone = await server.device();
  const body = { recipientEmail: 'bob@example.org', shareUrl: 'https://notes.test/#k', intervalDays: 2 };
  const made = (await phone.call('POST', path, { body })).body.deadManSwitch;
  // The times at which the server looks at it.
  for (const left of [24, 12, 6, 3, 1.5, 1]) {
    await server.advance(made.deadline - left * hourMs + 10_000 - server.clock.nowMs());
  }
  while (server.clock.nowMs() < made.deadline - minuteMs) await server.advance(minuteMs);
  const toBob = () => postbox.messages.filter(({ recipient }) => recipient === 'bob@example.org');
  const checkIn = () => phone.call('POST', `${path}/${made.uuid}/check-in`);
  const listed = async () => (await phone.call('GET', path)).body.deadManSwitches[0];
  return { death, server, toBob, checkIn, listed };
}

test('the host dies around any commit of a switch that fires: its mail arrives, twice only if handed over', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const { death, server, toBob, listed } = await startScene(t);
    death.plan(commit, isApplied);
    for (let passed = 0; passed < 5 && !death.isDead; passed += 1) await server.advance(minuteMs);
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart();
    await server.advance(5 * minuteMs);
    await server.advance(10 * minuteMs);
    const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
    t.true(toBob().length >= 1, step);
    t.is(new Set(toBob().map(({ messageId }) => messageId)).size, 1, step);
    t.true(isDead || toBob().length === 1, step);
    t.is((await listed()).triggered, true, step);
    return isDead;
  });
  t.true(deaths >= 6, `${deaths}`);
});

test('the host dies around any commit of a check-in in time: nothing is sent', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const { death, server, toBob, checkIn, listed } = await startScene(t);
    death.plan(commit, isApplied);
    let isOver = false;
    const checked = checkIn().then((answer) => {
      isOver = true;
      return answer;
    });
    await server.until(() => isOver || death.isDead, 5_000);
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart();
    const answer = await server.answered(checked, 30_000);
    t.is(answer.status, 200);
    await server.advance(5 * minuteMs);
    t.deepEqual(toBob(), []);
    t.is((await listed()).deadline, answer.body.deadline);
    return isDead;
  });
  t.true(deaths >= 2, `${deaths}`);
});
