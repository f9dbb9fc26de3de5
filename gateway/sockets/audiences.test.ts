import test from 'ava';
import type { Address } from '../../runtime/address.ts';
import { NotFoundError, OverloadedError } from '../../runtime/errors.ts';
import type { Actors } from '../../runtime/handles.ts';
import { drainPromises } from '../../test/kit/clock.ts';
import { Audiences } from './audiences.ts';

interface Question {
  readonly vault: string;
  readonly users: readonly string[];
  answer(memberships: Readonly<Record<string, number>>): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Vaults whose answers the test gives. */
function setUp(membershipsMax = 100) {
  const questions: Question[] = [];
  const log: string[] = [];
  const subscribe = (vault: string, { users }: { users: readonly string[] }) =>
    new Promise((resolve, reject) => {
      questions.push({
        vault,
        users,
        answer: (memberships) => {
          const isAny = Object.keys(memberships).length > 0;
          resolve(isAny ? { memberships, host: 'h' } : { memberships });
          return drainPromises();
        },
        fail: (error) => {
          reject(error);
          return drainPromises();
        },
      });
    });
  const note =
    (what: string) =>
    ({ id }: Address): void => {
      log.push(`${what} ${id}`);
    };
  const actors = {
    get: (_kind: unknown, vault: string) => ({
      ask: { subscribe: (request: { users: readonly string[] }) => subscribe(vault, request) },
    }),
  } as unknown as Actors;
  const audiences = new Audiences({
    actors,
    gateway: 'g',
    subscriptions: {
      add: note('add'),
      registered: note('registered'),
      failed: note('failed'),
      remove: note('remove'),
    },
    metrics: { vaultAsked: (outcome) => log.push(outcome) },
    membershipsMax,
  });
  const admitted = (vault = 'v') => [...audiences.admittedTo(vault)].toSorted();
  return { audiences, actors, questions, log, admitted };
}

test('nobody hears a vault before it has confirmed their membership', async (t) => {
  const { audiences, questions, log, admitted } = setUp();
  const joining = audiences.join('a', { v: 5 });
  await drainPromises();
  t.deepEqual(questions[0]?.users, ['a']);
  t.deepEqual(admitted(), []);
  await questions[0]?.answer({ a: 5 });
  t.true(await joining);
  t.deepEqual(admitted(), ['a']);
  t.false(await audiences.join('a', { v: 5 }), 'asked again for nothing');
  t.deepEqual(log, ['add v', 'answered', 'registered v']);
});

test('a user whom the vault does not know, and a vault that does not exist, are given up', async (t) => {
  const { audiences, questions, log } = setUp();
  const [first, second] = [audiences.join('a', { v: 5 }), audiences.join('a', { w: 5 })];
  await drainPromises();
  await questions[0]?.answer({});
  await questions[1]?.fail(new NotFoundError('no such vault'));
  await Promise.all([first, second]);
  t.is(audiences.vaults, 0);
  t.deepEqual(
    log.filter((line) => line.startsWith('remove')),
    ['remove v', 'remove w'],
  );
});

test('a member who is removed while the vault is asked is not let in by its answer', async (t) => {
  const { audiences, questions, admitted } = setUp();
  void audiences.join('a', { v: 5 });
  await drainPromises();
  audiences.removed('v', 'a', 5);
  await questions[0]?.answer({ a: 5 });
  t.deepEqual(admitted(), []);
  t.is(audiences.vaults, 0);
});

test('the end of a membership does not end the one after it, nor does an answer of the time between', async (t) => {
  const { audiences, questions, admitted } = setUp();
  void audiences.join('b', { v: 1 });
  void audiences.join('a', { v: 5 });
  await drainPromises();
  await questions[0]?.answer({ b: 1 });
  audiences.removed('v', 'a', 5);
  void audiences.join('a', { v: 9 });
  await drainPromises();
  audiences.removed('v', 'a', 5);
  await questions[1]?.answer({});
  await questions[2]?.answer({ a: 9 });
  t.deepEqual(admitted(), ['a', 'b']);
  audiences.removed('v', 'a', 9);
  t.deepEqual(admitted(), ['b']);
});

test('a membership that the gateway learned of late ends with its own number', async (t) => {
  const { audiences, questions, admitted } = setUp();
  void audiences.join('a', { v: 5 });
  await drainPromises();
  await questions[0]?.answer({ a: 9 });
  audiences.removed('v', 'a', 5);
  t.deepEqual(admitted(), ['a']);
  audiences.removed('v', 'a', 9);
  t.deepEqual(admitted(), []);
});

test('users who come while a vault is asked are asked about together', async (t) => {
  const { audiences, questions, admitted } = setUp(3_000);
  const all = Array.from({ length: 2_500 }, (_, n) => `u${n}`);
  const joining = all.map((user) => audiences.join(user, { v: 1 }));
  await drainPromises();
  for (let at = 0; at < questions.length; at += 1) {
    const { users } = questions[at] as Question;
    t.true(users.length <= 1_000);
    await questions[at]?.answer(Object.fromEntries(users.map((user) => [user, 1])));
  }
  await Promise.all(joining);
  t.is(questions.length, 4);
  t.is(admitted().length, 2_500);
});

test('many vaults are asked a few at a time', async (t) => {
  const { audiences, questions } = setUp(50_000);
  const vaults = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`v${n}`, 1]));
  void audiences.join('a', vaults);
  await drainPromises();
  t.is(questions.length, 64);
  await questions[0]?.answer({ a: 1 });
  t.is(questions.length, 65);
});

test('a vault that does not answer is left to the subscriptions, which let in its members of that time', async (t) => {
  const { audiences, actors, questions, log, admitted } = setUp();
  const joining = audiences.join('a', { v: 5 });
  await drainPromises();
  await questions[0]?.fail(new OverloadedError('too many subscriptions'));
  t.false(await joining);
  t.deepEqual(log, ['add v', 'failed', 'failed v']);
  const registering = audiences.register('v', actors);
  await questions[1]?.answer({ a: 5 });
  t.is(await registering, 'h');
  t.deepEqual(admitted(), ['a']);
});

test('a user who is no member any more when a vault is asked again is dropped', async (t) => {
  const { audiences, actors, questions, admitted } = setUp();
  void audiences.join('a', { v: 1 });
  void audiences.join('b', { v: 2 });
  await drainPromises();
  await questions[0]?.answer({ a: 1 });
  await questions[1]?.answer({ b: 2 });
  t.deepEqual(admitted(), ['a', 'b']);
  const registering = audiences.register('v', actors);
  await questions[2]?.answer({ b: 2 });
  await registering;
  t.deepEqual(admitted(), ['b']);
});

test('memberships are bounded, and those who leave make room', async (t) => {
  const { audiences, questions, log } = setUp(2);
  void audiences.join('a', { v: 1, w: 1 });
  t.false(await audiences.join('b', { v: 1 }));
  t.is(log.at(-1), 'full');
  audiences.leave('a');
  t.is(audiences.vaults, 0);
  void audiences.join('b', { v: 1 });
  await drainPromises();
  t.deepEqual(questions.at(-1)?.users, ['b']);
});
