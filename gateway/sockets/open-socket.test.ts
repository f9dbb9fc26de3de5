import test from 'ava';
import { OpenSocket, type SocketConnection } from './open-socket.ts';

const claims = { userUuid: 'u', sessionUuid: 's' };

/** A connection that answers sends with these results, and records the calls. */
function connection(...results: number[]): SocketConnection & { readonly done: string[] } {
  const done: string[] = [];
  return {
    done,
    send: (text) => {
      done.push(text);
      return results.shift() ?? 1;
    },
    end: (code) => done.push(`end ${code}`),
    close: () => done.push('close'),
  };
}

test('a frame is sent once the socket is open, and dropped before', (t) => {
  const socket = new OpenSocket(claims);
  const to = connection(1, 0);
  t.false(socket.send('early'));
  socket.opened(to);
  t.true(socket.send('sent'));
  t.true(socket.send('buffered'));
  t.deepEqual(to.done, ['sent', 'buffered']);
});

test('a socket that took no frame is closed and never sent to again', (t) => {
  const socket = new OpenSocket(claims);
  const to = connection(2);
  socket.opened(to);
  t.false(socket.send('a'));
  t.false(socket.send('b'));
  socket.end('draining', 1012);
  t.deepEqual(to.done, ['a', 'close']);
  t.is(socket.closedAs, 'slow');
});

test('a socket ends once, and a connection that is gone is not touched', (t) => {
  const socket = new OpenSocket(claims);
  const to = connection();
  socket.opened(to);
  socket.end('session-ended', 1008);
  socket.closed('client');
  socket.end('draining', 1012);
  t.false(socket.send('a'));
  t.deepEqual(to.done, ['end 1008']);
  t.is(socket.closedAs, 'session-ended');
  t.true(socket.isClosed);
});

test('a socket that ended before it opened stays closed', (t) => {
  const socket = new OpenSocket(claims);
  socket.end('session-ended', 1008);
  t.true(socket.isClosed);
});
