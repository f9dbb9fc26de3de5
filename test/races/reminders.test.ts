/** A reminder by e-mail that is due, and a host that dies around each commit of its delivery. */
import test, { type ExecutionContext } from 'ava';
import { changeEmail } from '../kit/account.ts';
import { atEveryCommit, Death } from '../kit/death.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

const path = '/v1/email-reminders';
const minuteMs = 60_000;

/** Makes a reminder that is due in a minute. */
async function startScene(t: ExecutionContext) {
  const death = new Death();
  const postbox = new Postbox();
  const accounts = { emailReminders: true };
  const server = await startServer(t, { ...mailTo(postbox), accounts, host: { schedule: death.schedule } });
  const phone = await server.device();
  const setting = { name: 'EMAIL_REMINDERS_ENABLED', value: 'true' };
  await phone.call('PUT', `/v1/users/${phone.account.userUuid}/settings`, { body: setting });
  const body = { dueAt: server.clock.nowMs() + minuteMs, message: 'Water the plants' };
  const { uuid } = (await phone.call('POST', path, { body })).body.emailReminder;
  const reminders = () => postbox.messages.filter(({ subject }) => subject.startsWith('Reminder'));
  const over = async () => {
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart();
    return isDead;
  };
  const later = async () => {
    await server.advance(5 * minuteMs);
    await server.advance(20 * minuteMs);
  };
  return { death, server, phone, postbox, uuid, reminders, over, later };
}

test('the host dies around any commit of a reminder that is due: it arrives, twice only if handed over', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const { death, server, phone, reminders, over, later } = await startScene(t);
    death.plan(commit, isApplied);
    for (let passed = 0; passed < 3 && !death.isDead; passed += 1) await server.advance(minuteMs);
    const isDead = await over();
    await later();
    const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
    t.true(reminders().length >= 1, step);
    t.is(new Set(reminders().map(({ messageId }) => messageId)).size, 1, step);
    t.true(reminders().length === 1 || isDead, step);
    t.like((await phone.call('GET', path)).body.emailReminders, [{ sent: true }], step);
    return isDead;
  });
  t.true(deaths >= 6, `${deaths}`);
});

test('or of a deletion while the queue has its mail: once that is answered nothing is sent', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const { death, server, phone, postbox, uuid, reminders, over, later } = await startScene(t);
    postbox.answer = () => ({ result: 'transient', failure: 'provider' });
    await server.advance(minuteMs + 10_000);
    death.plan(commit, isApplied);
    const deleted = phone.call('DELETE', `${path}/${uuid}`);
    let isOver = false;
    deleted.finally(() => {
      isOver = true;
    });
    await server.until(() => isOver || death.isDead, 5_000);
    if (isOver) await server.advance(1_000);
    const isDead = await over();
    const { status } = await server.answered(deleted, 30_000);
    // A repeat of a completed request finds nothing any more.
    t.true(status === 200 || (isDead && status === 404), `${status}`);
    postbox.answer = () => undefined;
    await later();
    t.deepEqual(reminders(), []);
    return isDead;
  });
  t.true(deaths >= 2, `${deaths}`);
});

test('or of a change of the address while the queue has its mail: it arrives once, at the new one', async (t) => {
  t.timeout(120_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const { death, server, phone, postbox, reminders, over, later } = await startScene(t);
    postbox.answer = () => ({ result: 'transient', failure: 'provider' });
    await server.advance(minuteMs + 10_000);
    death.plan(commit, isApplied);
    const moved = changeEmail(server, phone.account, 'new@example.org');
    let isOver = false;
    moved.finally(() => {
      isOver = true;
    });
    await server.until(() => isOver || death.isDead, 5_000);
    for (let passed = 0; passed < 10 && !death.isDead; passed += 1) await server.advance(1_000);
    const isDead = await over();
    const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
    t.is((await server.answered(moved, 60_000)).status, 200, step);
    postbox.answer = () => undefined;
    await later();
    t.deepEqual(
      reminders().map(({ recipient }) => recipient),
      ['new@example.org'],
      step,
    );
    return isDead;
  });
  t.true(deaths >= 6, `${deaths}`);
});
