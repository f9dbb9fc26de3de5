/**
 * A published reminder that is due or given up, and a host that dies around each commit of it: never sent twice, none
 * lost.
 */
import test, { type ExecutionContext } from 'ava';
import { atEveryCommit, Death } from '../kit/death.ts';
import { delivering, minuteMs } from '../kit/delivering.ts';
import type { Answer } from '../kit/http.ts';

const toTelegram = { channel: 'telegram', destination: '4711', enabled: true };
const toMail = { channel: 'email', destination: 'bob@example.org', enabled: true };
const busy = { result: 'transient', failure: 'provider' } as const;

/** Publishes one reminder, due in a minute. */
async function startScene(t: ExecutionContext, config: object) {
  const death = new Death();
  const scene = await delivering(t, { host: { schedule: death.schedule } });
  const { server, chats, postbox } = scene;
  await scene.configure(config);
  await scene.publish({ id: 'one' });
  const over = async () => {
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart({ accounts: { reminderDelivery: true }, messengers: chats });
    return isDead;
  };
  const later = async () => {
    await server.advance(3 * minuteMs);
    await server.advance(30 * minuteMs);
  };
  return { ...scene, death, over, later, arrived: () => chats.messages.length + postbox.messages.length };
}

type Scene = Awaited<ReturnType<typeof startScene>>;

/** Where the host died, how many messages had left, and the known state of the reminder. */
interface KnownState {
  readonly step: string;
  readonly arrived: number;
  readonly state: string;
}

async function whenDue(t: ExecutionContext, config: object): Promise<readonly KnownState[]> {
  const known: KnownState[] = [];
  await atEveryCommit(async (commit, isApplied) => {
    const { death, server, over, later, reminderById, arrived } = await startScene(t, config);
    death.plan(commit, isApplied);
    for (let passed = 0; passed < 3 && !death.isDead; passed += 1) await server.advance(minuteMs);
    const isDead = await over();
    await later();
    const { state } = await reminderById('one');
    const step = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
    t.true(arrived() <= 1, step);
    t.true(state === 'uncertain' || (state === 'sent' && arrived() === 1), `${step}: ${state}, ${arrived()}`);
    if (isDead) known.push({ step, arrived: arrived(), state });
    return isDead;
  });
  return known;
}

for (const [name, config] of [
  ['a messenger', toTelegram],
  ['mail', toMail],
] as const) {
  test(`by ${name}: it is uncertain only between the commit before the provider hears of it and the one after`, async (t) => {
    t.timeout(180_000);
    const known = await whenDue(t, config);
    t.true(known.length >= 8, `${known.length}`);
    const uncertain = known.filter(({ state }) => state === 'uncertain');
    t.deepEqual(
      uncertain.map(({ arrived }) => arrived),
      [0, 1],
      JSON.stringify(uncertain),
    );
  });
}

/** Makes a request while the queue still has the mail, and dies meanwhile. */
async function whenAsked(
  t: ExecutionContext,
  ask: (scene: Scene) => Promise<Answer>,
  check: (scene: Scene, answer: Answer, step: string) => Promise<void>,
): Promise<void> {
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const scene = await startScene(t, toMail);
    const { death, server, postbox, over } = scene;
    postbox.answer = () => busy;
    await server.advance(minuteMs + 5_000);
    death.plan(commit, isApplied);
    let isOver = false;
    const pending = ask(scene).finally(() => {
      isOver = true;
    });
    await server.until(() => isOver || death.isDead, 5_000);
    for (let passed = 0; passed < 10 && !death.isDead; passed += 1) await server.advance(500);
    const isDead = await over();
    const answer = await server.answered(pending, 60_000);
    await check(scene, answer, `commit ${commit}, ${isApplied ? 'applied' : 'lost'}: ${answer.text}`);
    return isDead;
  });
  t.true(deaths >= 6, `${deaths}`);
}

test('a deletion while the queue has the mail: once that is answered nothing is sent', async (t) => {
  t.timeout(180_000);
  await whenAsked(
    t,
    ({ remove }) => remove('one'),
    async ({ postbox, later, listed, arrived }, { status }, step) => {
      t.is(status, 200, step);
      postbox.answer = () => undefined;
      await later();
      t.is(arrived(), 0, step);
      t.deepEqual(await listed(), [], step);
    },
  );
});

test('an opt-out while the queue has the mail: it is all gone, and nothing is sent', async (t) => {
  t.timeout(180_000);
  await whenAsked(
    t,
    ({ optOut }) => optOut(),
    async ({ postbox, later, want, listed, arrived }, { status, body }, step) => {
      t.is(status, 200, step);
      t.deepEqual(body, { optedOut: true, alreadyDispatched: false }, step);
      postbox.answer = () => undefined;
      await later();
      t.is(arrived(), 0, step);
      await want('true');
      t.deepEqual(await listed(), [], step);
    },
  );
});

test('another destination while the queue has the mail: it arrives there, once, and nowhere else', async (t) => {
  t.timeout(180_000);
  await whenAsked(
    t,
    ({ configure }) => configure(toTelegram),
    async ({ postbox, chats, later, reminderById }, { status }, step) => {
      t.is(status, 200, step);
      postbox.answer = () => undefined;
      await later();
      t.is(postbox.messages.length, 0, step);
      const { state } = await reminderById('one');
      t.true(chats.messages.length === 1 || (state === 'uncertain' && chats.messages.length === 0), step);
    },
  );
});

test('a reminder arrives once when its user closes the gate while the queue has the mail, and opens it again', async (t) => {
  t.timeout(180_000);
  await whenAsked(
    t,
    ({ want }) => want('false'),
    async ({ server, postbox, want, later, arrived }, { status }, step) => {
      t.is(status, 200, step);
      postbox.answer = () => undefined;
      await later();
      t.is(arrived(), 0, step);
      await want('true');
      await server.advance(2 * minuteMs);
      t.is(arrived(), 1, step);
    },
  );
});
