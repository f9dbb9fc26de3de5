/**
 * A pairing, or its refresh, and a host that dies around each commit of it: a code is sent once, and no intermediate
 * state remains.
 */
import test, { type ExecutionContext } from 'ava';
import { atEveryCommit, Death } from '../kit/death.ts';
import { paired } from '../kit/pairing.ts';

const minuteMs = 60_000;

async function startScene(t: ExecutionContext) {
  const death = new Death();
  const scene = await paired(t, { host: { schedule: death.schedule } });
  const { server, domain } = scene;
  /** Resolves once it is answered, or the host is dead. */
  const orDeath = (pending: Promise<unknown>) => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    pending.then(over, over);
    return server.until(() => isOver || death.isDead, 40_000);
  };
  const reborn = async () => {
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart(domain);
    return isDead;
  };
  return { ...scene, death, orDeath, reborn };
}

test('a code is exchanged once whatever commit the host dies at, and what was begun blocks nothing', async (t) => {
  t.timeout(300_000);
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
    const { agree, callback, identity, death, orDeath, reborn, status, call, server, pair, trail } =
      await startScene(t);
    const brought = await agree();
    death.plan(commit, isApplied);
    const page = callback(brought);
    page.catch(() => {});
    await orDeath(page);
    const isDead = await reborn();
    if (isDead) await server.answered(page, 40_000).catch(() => undefined);
    const sent = () => identity.requests.filter((each) => each.get('code') === brought.get('code')).length;
    t.true(sent() <= 1, step);
    // A claim stays, whether its code has left or not. Without one the gateway has asked again.
    const isUsedUp = sent() === 1 || commit > 1 || isApplied;
    t.is((await callback(brought)).status, isUsedUp ? 400 : 200, step);
    t.true(sent() <= 1, step);
    // Any remainder of it ends by itself.
    await server.advance(3 * minuteMs);
    t.false((await status()).pendingAttempt, step);
    await pair();
    t.true((await status()).paired, step);
    const { subscriptions } = (await call('GET', '/list')).body;
    t.is(subscriptions.length, 1, step);
    t.true((await trail()).includes('assistant-paired'), step);
    return isDead;
  });
  t.true(deaths >= 4, `${deaths}`);
});

test('a refresh that a host dies in is made again, and the pairing then answers or says that it needs repair', async (t) => {
  t.timeout(300_000);
  const ends = new Set<string>();
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
    const { pair, ask, death, orDeath, reborn, status, server } = await startScene(t);
    await pair();
    await server.advance(60 * minuteMs);
    death.plan(commit, isApplied);
    const asking = ask();
    asking.catch(() => {});
    await orDeath(asking);
    const isDead = await reborn();
    if (isDead) await server.answered(asking, 60_000).catch(() => undefined);
    await server.advance(2 * minuteMs);
    await ask();
    const { status: answered, events } = await ask();
    const { repairReason } = await status();
    const works = answered === 200 && events.some(({ kind }) => kind === 'text-delta');
    t.true(works || (answered === 503 && repairReason === 'invalid-grant'), `${step}: ${repairReason}`);
    ends.add(works ? 'works' : 'repair');
    return isDead;
  });
  t.true(deaths >= 4, `${deaths}`);
  t.true(ends.has('works'));
});
