import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import {
  HandshakeLimiter,
  handshakesPerTurn,
  runningMax,
  turnMs,
  waitingMax,
} from '../sockets/handshake-limiter.ts';
import { socketRoutes } from './sockets.ts';

const never = new Promise(() => {});

/** Routes at a server that is ready, and the number of questions to users' actors so far. */
function world() {
  let calls = 0;
  let isReady = true;
  const clock = new FakeClock();
  const ask = () => {
    calls += 1;
    return never;
  };
  const options = {
    socketTokens: { mint: () => 'token', verify: () => undefined },
    syncTickets: { mint: () => 'ticket' },
    syncLane: {
      isEnabled: true,
      sameOrigin: true,
      origins: [],
      memoryBytes: 1,
      socketsPerUserMax: 16,
      idleSeconds: 120,
    },
    readiness: { report: async () => ({ ready: isReady, checks: {} }), startDraining: () => {} },
  };
  const handshakes = new HandshakeLimiter(clock);
  const routes = socketRoutes(options, handshakes);
  const context = {
    actors: { get: () => ({ ask: { mintSyncTicket: ask, validateSession: ask } }) },
    credentials: { userUuid: 'a' },
    header: () => undefined,
    ask: {},
  };
  return {
    calls: () => calls,
    setReady(ready: boolean) {
      isReady = ready;
    },
    turn: () => clock.advance(turnMs),
    /** Each of these clients waits, so the next one is refused. */
    crowd(): void {
      for (let client = 0; client < handshakesPerTurn + waitingMax; client += 1)
        void handshakes.run(async () => {}, undefined);
    },
    async dial(path: string): Promise<unknown> {
      const route = routes.find((one) => one.path === path);
      return route?.handle(context as never, { deviceId: 'phone' });
    },
  };
}

/** Until all promises that can be kept without a turn are. */
async function settled(): Promise<void> {
  for (let step = 0; step < 20; step += 1) await Promise.resolve();
}

for (const path of ['/v1/sockets/sync/ticket', '/v1/sockets/tokens']) {
  test(`a crowd that asks for ${path} reaches its actors a few at a time`, async (t) => {
    const { calls, dial, turn } = world();
    for (let client = 0; client < 2 * runningMax; client += 1) void dial(path);
    await settled();
    t.is(calls(), handshakesPerTurn);
    await turn();
    t.is(calls(), 2 * handshakesPerTurn);
    for (let turns = 0; turns < 4; turns += 1) await turn();
    t.is(calls(), runningMax, 'none of them has been answered');
  });
}

test('a client whose turn comes once the server has become ready gets its ticket', async (t) => {
  const { calls, dial, setReady, turn } = world();
  setReady(false);
  for (let client = 0; client < 2 * handshakesPerTurn; client += 1) void dial('/v1/sockets/sync/ticket');
  await settled();
  t.is(calls(), 0);
  setReady(true);
  await turn();
  t.is(calls(), handshakesPerTurn);
});

test('while too many wait, a client is told to come again later, in the words that its library takes for passing', async (t) => {
  const { calls, crowd, dial } = world();
  crowd();
  t.like(await dial('/v1/sockets/tokens'), { status: 504, headers: { 'Retry-After': '1' } });
  t.like(await dial('/v1/sockets/sync/ticket'), { status: 503, body: { error: { transient: true } } });
  t.is(calls(), 0);
});
