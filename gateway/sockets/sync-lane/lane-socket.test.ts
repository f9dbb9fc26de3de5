import test, { type ExecutionContext } from 'ava';
import { LaneFrames } from '../../../docs/protocol/sync-lane-client.ts';
import { drainPromises } from '../../../test/kit/clock.ts';
import { LaneMemory } from './budget.ts';
import { type LaneServices, LaneSocket, type Redeemed } from './lane-socket.ts';
import type { SyncTicket } from './tickets.ts';

const deviceId = 'web-12fb6ed5';

function world(t: ExecutionContext) {
  const timers = new Set<() => void>();
  const said: { type: string; payload: { code?: string } }[] = [];
  const spent: SyncTicket[] = [];
  const registered: unknown[] = [];
  const memory = new LaneMemory(1_000_000);
  let unreadBytes = 0;
  let endSession = () => {};
  let answer = (_spent: Redeemed) => {};
  let admit: (isAdmitted: boolean) => void = () => {};
  const services = {
    metrics: { opened: () => {}, closed: () => {}, answered: () => {} },
    memory,
    nowMs: () => 0,
    schedule(_delayMs: number, callback: () => void) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
    isDraining: () => false,
    verify: () => ({ userUuid: 'user', sessionUuid: 'session', pair: 'pair' }) as SyncTicket,
    async handshake<T>(redeemed: () => Promise<T>, refused: T): Promise<T> {
      const isAdmitted = await new Promise<boolean>((resolve) => {
        admit = resolve;
      });
      return isAdmitted ? redeemed() : refused;
    },
    redeem(ticket: SyncTicket, gateway: string) {
      t.is(gateway, 'gateway');
      spent.push(ticket);
      return new Promise<Redeemed>((resolve) => {
        answer = resolve;
      });
    },
    admit: () => true,
    watch(_credentials: unknown, ended: () => void) {
      endSession = ended;
      return {
        gateway: 'gateway',
        registered: (by: unknown) => registered.push(by),
        end: () => registered.push('ended'),
      };
    },
    closed: () => {},
  } as unknown as LaneServices;
  const socket = new LaneSocket(services);
  socket.opened({
    send: (text) => said.push(JSON.parse(text)),
    end: () => socket.closed(),
    close: () => socket.closed(),
    getBufferedAmount: () => unreadBytes,
  });
  const frames = new LaneFrames();
  return {
    said,
    spent,
    auth() {
      const text = JSON.stringify(frames.make('AUTH', { ticket: 't'.repeat(43), deviceId }));
      socket.received(new TextEncoder().encode(text).buffer as ArrayBuffer, false);
    },
    async admit(isAdmitted = true) {
      admit(isAdmitted);
      await drainPromises();
    },
    async answer(spent: Redeemed) {
      answer(spent);
      await drainPromises();
    },
    registered,
    endSession: () => endSession(),
    fireTimers() {
      for (const fire of [...timers]) fire();
    },
    leave: () => socket.closed(),
    memory,
    pinged: () => socket.pinged(),
    leaveUnread(bytes: number) {
      unreadBytes = bytes;
    },
  };
}

test('a socket says who it is in time although it is admitted later', async (t) => {
  const { auth, admit, answer, fireTimers, said, spent, registered } = world(t);
  auth();
  t.is(spent.length, 0);
  fireTimers();
  t.is(said.length, 0);
  await admit();
  t.is(spent.length, 1);
  const good = { verdict: 'good', host: 'here' } as const;
  await answer(good);
  t.is(said[0]?.type, 'AUTHENTICATED');
  t.deepEqual(registered, [good]);
});

test('what a client leaves unread before it says who it is counts for nobody afterwards', async (t) => {
  const { auth, admit, answer, leaveUnread, pinged, memory, said } = world(t);
  leaveUnread(600_000);
  pinged();
  t.true(memory.isFullFor(''));
  auth();
  leaveUnread(0);
  await admit();
  await answer({ verdict: 'good', host: 'here' });
  t.is(said[0]?.type, 'AUTHENTICATED');
  t.false(memory.isFullFor(''));
  t.is(memory.bytes, 0);
});

test('a session that ends while its ticket is redeemed ends the socket', async (t) => {
  const { auth, admit, answer, endSession, said, registered } = world(t);
  auth();
  await admit();
  endSession();
  t.deepEqual(
    said.map(({ payload }) => payload.code),
    ['NOT_AUTHORIZED'],
  );
  await answer({ verdict: 'good', host: 'here' });
  t.is(said.length, 1);
  t.deepEqual(registered, ['ended']);
});

test('the session of a spent ticket is not watched', async (t) => {
  const { auth, admit, answer, said, registered } = world(t);
  auth();
  await admit();
  await answer({ verdict: 'spent' });
  t.is(said[0]?.payload.code, 'AUTH_REJECTED');
  t.deepEqual(registered, ['ended']);
});

test('a socket that never says who it is ends', (t) => {
  const { fireTimers, said } = world(t);
  fireTimers();
  t.is(said[0]?.payload.code, 'AUTH_TIMEOUT');
});

test('a client that leaves before it is admitted spends no ticket', async (t) => {
  const { auth, admit, leave, spent } = world(t);
  auth();
  leave();
  await admit();
  t.is(spent.length, 0);
});

test('a socket that comes when too many wait for a handshake is told to come later, and its ticket is not spent', async (t) => {
  const { auth, admit, said, spent } = world(t);
  auth();
  await admit(false);
  t.is(spent.length, 0);
  t.like(said[0], { type: 'ERROR', payload: { code: 'SYNC_DISABLED' } });
});
