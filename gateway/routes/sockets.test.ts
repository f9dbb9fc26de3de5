import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { dialsPerTurn } from '../sockets/dial-pace.ts';
import { socketRoutes } from './sockets.ts';

const never = new Promise(() => {});

/** Routes at a server that is ready, and the number of questions to users' actors so far. */
function world() {
  let calls = 0;
  const ask = () => {
    calls += 1;
    return never;
  };
  const routes = socketRoutes({
    socketTokens: { mint: () => 'token', verify: () => undefined },
    syncTickets: { mint: () => 'ticket' },
    syncLane: { isEnabled: true, sameOrigin: true, origins: [], memoryBytes: 1, socketsPerUserMax: 16 },
    readiness: { report: async () => ({ ready: true, checks: {} }), startDraining: () => {} },
  });
  const context = {
    actors: { get: () => ({ ask: { mintSyncTicket: ask, validateSession: ask } }) },
    credentials: { userUuid: 'a' },
    header: () => undefined,
    ask: {},
  };
  return {
    calls: () => calls,
    dial(path: string): void {
      const route = routes.find((one) => one.path === path);
      void route?.handle(context as never, { deviceId: 'phone' });
    },
  };
}

for (const path of ['/v1/sockets/sync/ticket', '/v1/sockets/tokens']) {
  test(`a crowd that asks for ${path} reaches its actors a few in each turn of the event loop`, async (t) => {
    const { calls, dial } = world();
    for (let client = 0; client < 3 * dialsPerTurn; client += 1) dial(path);
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    t.is(calls(), dialsPerTurn);
    await setImmediate();
    await setImmediate();
    await setImmediate();
    t.is(calls(), 3 * dialsPerTurn);
  });
}
