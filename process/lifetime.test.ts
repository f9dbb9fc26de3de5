import test from 'ava';
import { silentLogger } from '../runtime/ports.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { Lifetime } from './lifetime.ts';
import { serverExitCodes } from './start-error.ts';

function lifetimeOf(closeMaxMs = 60_000) {
  const clock = new FakeClock();
  const exits: number[] = [];
  const closed: string[] = [];
  const lifetime = new Lifetime({
    logger: silentLogger,
    clock,
    closeMaxMs,
    exit: (code) => void exits.push(code),
  });
  return { lifetime, clock, exits, closed };
}

test('resources are closed in reverse order, one after another, before the exit', async (t) => {
  const { lifetime, exits, closed } = lifetimeOf();
  await lifetime.open(async () => {
    lifetime.onEnd(() => void closed.push('first'));
    lifetime.onEnd(async () => {
      await Promise.resolve();
      t.deepEqual(exits, []);
      closed.push('second');
    });
  });
  await lifetime.end(0);
  t.deepEqual(closed, ['second', 'first']);
  t.deepEqual(exits, [0]);
});

test('ending twice closes once', async (t) => {
  const { lifetime, exits, closed } = lifetimeOf();
  lifetime.onEnd(() => void closed.push('only'));
  await Promise.all([lifetime.end(0), lifetime.end(7)]);
  t.deepEqual(closed, ['only']);
  t.deepEqual(exits, [0]);
});

test('a signal while things are opened stops the opening and closes what is there', async (t) => {
  const { lifetime, exits, closed } = lifetimeOf();
  let finishStart = () => {};
  const opened = lifetime.open(async () => {
    lifetime.onEnd(() => void closed.push('lock'));
    await new Promise<void>((resolve) => {
      finishStart = resolve;
    });
    lifetime.onEnd(() => void closed.push('database'));
    closed.push('never opened');
  });
  lifetime.signal('SIGTERM');
  t.deepEqual(exits, []);
  finishStart();
  t.is(await opened, undefined);
  await lifetime.end(0);
  t.deepEqual(closed, ['database', 'lock']);
  t.deepEqual(exits, [0]);
});

test('the first signal again is ignored, a second one ends at once', async (t) => {
  const { lifetime, clock, exits } = lifetimeOf();
  lifetime.onEnd(() => new Promise(() => {}));
  lifetime.signal('SIGINT');
  lifetime.signal('SIGINT');
  t.deepEqual(exits, []);
  await clock.advance(501);
  lifetime.signal('SIGINT');
  t.deepEqual(exits, [130]);
});

test('a closer that fails does not keep the others from closing, and shows in the exit code', async (t) => {
  const { lifetime, exits, closed } = lifetimeOf();
  lifetime.onEnd(() => void closed.push('other'));
  lifetime.onEnd(() => Promise.reject(new Error('no')));
  await lifetime.end(0);
  t.deepEqual(closed, ['other']);
  t.deepEqual(exits, [serverExitCodes.software]);
});

test('closing that takes too long is cut off', async (t) => {
  const { lifetime, clock, exits } = lifetimeOf(1_000);
  lifetime.onEnd(() => new Promise(() => {}));
  void lifetime.end(0);
  await clock.advance(1_000);
  t.deepEqual(exits, [serverExitCodes.software]);
});
