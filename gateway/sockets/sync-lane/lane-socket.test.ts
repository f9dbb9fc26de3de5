import test from 'ava';
import { LaneFrames } from '../../../docs/protocol/sync-lane-client.ts';
import { LaneMemory } from './budget.ts';
import { type LaneServices, LaneSocket } from './lane-socket.ts';
import type { SyncTicket } from './tickets.ts';

const deviceId = 'web-12fb6ed5';

function world() {
  const timers = new Set<() => void>();
  const said: { type: string; payload: { code?: string } }[] = [];
  const spent: SyncTicket[] = [];
  let admit: (isAdmitted: boolean) => void = () => {};
  const services = {
    metrics: { opened: () => {}, closed: () => {}, answered: () => {} },
    memory: new LaneMemory(1_000_000),
    nowMs: () => 0,
    schedule(_delayMs: number, callback: () => void) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
    isDraining: () => false,
    verify: () => ({ userUuid: 'user', sessionUuid: 'session', pair: 'pair' }) as SyncTicket,
    nextHandshake: () =>
      new Promise<boolean>((resolve) => {
        admit = resolve;
      }),
    async redeem(ticket: SyncTicket) {
      spent.push(ticket);
      return 'good';
    },
    admit: () => true,
    watch: () => () => {},
    closed: () => {},
  } as unknown as LaneServices;
  const socket = new LaneSocket(services);
  socket.opened({
    send: (text) => said.push(JSON.parse(text)),
    end: () => socket.closed(),
    close: () => socket.closed(),
    getBufferedAmount: () => 0,
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
      for (let step = 0; step < 10; step += 1) await Promise.resolve();
    },
    fireTimers() {
      for (const fire of [...timers]) fire();
    },
    leave: () => socket.closed(),
  };
}

test('a socket says who it is in time although it is admitted later', async (t) => {
  const { auth, admit, fireTimers, said, spent } = world();
  auth();
  t.is(spent.length, 0);
  fireTimers();
  t.is(said.length, 0);
  await admit();
  t.is(spent.length, 1);
  t.is(said[0]?.type, 'AUTHENTICATED');
});

test('a socket that never says who it is ends', (t) => {
  const { fireTimers, said } = world();
  fireTimers();
  t.is(said[0]?.payload.code, 'AUTH_TIMEOUT');
});

test('a client that leaves before it is admitted spends no ticket', async (t) => {
  const { auth, admit, leave, spent } = world();
  auth();
  leave();
  await admit();
  t.is(spent.length, 0);
});

test('a socket that comes when too many wait for a handshake is told to come later, and its ticket is not spent', async (t) => {
  const { auth, admit, said, spent } = world();
  auth();
  await admit(false);
  t.is(spent.length, 0);
  t.like(said[0], { type: 'ERROR', payload: { code: 'SYNC_DISABLED' } });
});
