/** Every state of a published reminder against every request that would change it. */
import test, { type ExecutionContext } from 'ava';
import { delivering, minuteMs, path } from '../../kit/delivering.ts';
import type { Answer } from '../../kit/http.ts';

const toTelegram = { channel: 'telegram', destination: '4711', enabled: true };
const toMail = { channel: 'email', destination: 'bob@example.org', enabled: true };
const busy = { result: 'transient', failure: 'provider' } as const;

type Scene = Awaited<ReturnType<typeof delivering>> & { readonly dueAtUtc: string };

/** `config`: the destination of reminders. `run`: how the reminder gets into its state. */
interface Case {
  readonly config: object;
  readonly state: string;
  run(scene: Scene): Promise<unknown>;
}

const pending = () => new Promise<undefined>(() => {});
const due = ({ server }: Scene) => server.advance(minuteMs + 5_000);

const cases: Readonly<Record<string, Case>> = {
  'not due': { config: toTelegram, state: 'queued', run: async () => {} },
  'a mail in the queue': {
    config: toMail,
    state: 'claimed',
    run: (scene) => {
      scene.postbox.answer = () => busy;
      return due(scene);
    },
  },
  'a mail that is being sent': {
    config: toMail,
    state: 'claimed',
    run: (scene) => {
      scene.postbox.answer = pending;
      return due(scene);
    },
  },
  'in flight': {
    config: toTelegram,
    state: 'in-flight',
    run: (scene) => {
      scene.chats.answer = pending;
      return due(scene);
    },
  },
  accepted: { config: toTelegram, state: 'accepted', run: due },
  'an accepted mail': { config: toMail, state: 'accepted', run: due },
  sent: {
    config: toTelegram,
    state: 'sent',
    run: async (scene) => {
      await due(scene);
      await scene.server.advance(2 * minuteMs);
    },
  },
  failed: {
    config: toTelegram,
    state: 'failed',
    run: (scene) => {
      scene.chats.answer = () => ({ result: 'rejected' });
      return due(scene);
    },
  },
  uncertain: {
    config: toTelegram,
    state: 'uncertain',
    run: (scene) => {
      scene.chats.answer = () => ({ result: 'uncertain' });
      return due(scene);
    },
  },
};

const elsewhere = { channel: 'whatsapp', destination: '+4915112345678', enabled: true };
const requests: Readonly<Record<string, (scene: Scene) => Promise<Answer>>> = {
  delete: ({ remove }) => remove('one'),
  'publish the same': ({ publish, dueAtUtc }) => publish({ id: 'one', dueAtUtc }),
  'publish another message': ({ publish, dueAtUtc }) => publish({ id: 'one', message: 'Other', dueAtUtc }),
  'publish for later': ({ publish, isoIn }) => publish({ id: 'one', dueAtUtc: isoIn(100 * minuteMs) }),
  'configure the same': ({ configure, phone }) =>
    phone.call('GET', `${path}/delivery-config`).then(({ body }) => configure(body.config)),
  'configure elsewhere': ({ configure }) => configure(elsewhere),
  'turn off': ({ configure, phone }) =>
    phone
      .call('GET', `${path}/delivery-config`)
      .then(({ body }) => configure({ ...body.config, enabled: false })),
  'opt out': ({ optOut }) => optOut(),
};

const notRecallable = 'reminder-not-recallable';
const sending = 'delivery-in-flight';

/** The answers, in the order of `requests`. */
const answers: Readonly<Record<string, readonly string[]>> = {
  'not due': ['200', '200', '200', '200', '200', '200', '200', 'out'],
  'a mail in the queue': ['200', '200', '200', '200', '200', '200', '200', 'out'],
  'a mail that is being sent': [
    notRecallable,
    '200',
    notRecallable,
    notRecallable,
    '200',
    sending,
    sending,
    sending,
  ],
  'in flight': [notRecallable, '200', notRecallable, notRecallable, '200', sending, sending, sending],
  accepted: [notRecallable, '200', notRecallable, '200', '200', 'delivery-accepted', '200', 'dispatched'],
  'an accepted mail': [
    notRecallable,
    '200',
    notRecallable,
    '200',
    '200',
    'delivery-accepted',
    '200',
    'dispatched',
  ],
  sent: ['200', '200', '200', '200', '200', '200', '200', 'dispatched'],
  failed: ['200', '200', '200', '200', '200', '200', '200', 'out'],
  uncertain: [notRecallable, '200', notRecallable, '200', '200', '200', '200', 'dispatched'],
};

async function startScene(t: ExecutionContext, { config, state, run }: Case): Promise<Scene> {
  const scene = await delivering(t);
  const dueAtUtc = scene.isoIn(minuteMs);
  await scene.configure(config);
  await scene.publish({ id: 'one', dueAtUtc });
  const started = { ...scene, dueAtUtc };
  await run(started);
  t.is((await scene.reminderById('one'))?.state, state);
  return started;
}

/**
 * Whatever the request: a refusal has changed nothing, and a user who was told that the reminder is gone gets no
 * message any more.
 */
for (const [of, made] of Object.entries(cases)) {
  test(`${of}: what each request is answered, and what it leaves`, async (t) => {
    t.timeout(120_000);
    for (const [index, [name, ask]] of Object.entries(requests).entries()) {
      const scene = await startScene(t, made);
      const { server, chats, postbox } = scene;
      const before = await scene.reminderById('one');
      const answer = await ask(scene);
      const expected = answers[of]?.[index] ?? '';
      const step = `${of}, ${name}: ${JSON.stringify(answer.body)}`;
      const { tag } = answer.body.error ?? {};
      if (name === 'opt out' && answer.status === 200) {
        t.is(answer.body.alreadyDispatched ? 'dispatched' : 'out', expected, step);
        await scene.want('true');
        t.deepEqual(await scene.listed(), [], step);
        const config = await server.answered(scene.phone.call('GET', `${path}/delivery-config`));
        t.deepEqual(config.body, { config: null });
      } else t.is(answer.status === 200 ? '200' : tag, expected, step);
      if (answer.status !== 200) {
        t.is(answer.status, 409, step);
        if (tag === sending) t.is(answer.headers.get('retry-after'), '15');
        const { updatedAt: _, ...rest } = await scene.reminderById('one');
        t.like(before, rest, step);
      }
      if (answer.status === 200 && ['delete', 'opt out', 'turn off'].includes(name)) {
        const left = chats.messages.length + postbox.messages.length;
        chats.answer = () => undefined;
        postbox.answer = () => undefined;
        await server.advance(20 * minuteMs);
        await server.advance(60 * minuteMs);
        t.is(chats.messages.length + postbox.messages.length, left, step);
      }
      if (name === 'configure elsewhere' && answer.status === 200 && made.state === 'claimed') {
        postbox.answer = () => undefined;
        await server.advance(minuteMs);
        t.is(postbox.messages.length, 0, step);
        t.like(chats.messages, [{ channel: 'whatsapp' }], step);
      }
    }
  });
}
