import test from 'ava';
import fc from 'fast-check';
import { systemRandom } from '../../../runtime/random.ts';
import { isIdentifier } from './envelope.ts';
import { createSyncTickets, ticketCharacters } from './tickets.ts';

const claims = {
  userUuid: '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f',
  sessionUuid: '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f',
  pair: '0123456789abcdef0123456789abcdef',
  activation: '5b1e0c9d-8e7f-4a53-9c4b-1c9e4b6a5d0e',
  expiresAtMs: 1_800_000_000_000,
};
const deviceId = 'web-12fb6ed5';
const tickets = createSyncTickets(Buffer.alloc(32, 1), systemRandom);

test('a ticket says what it was made of, to its device alone', (t) => {
  const ticket = tickets.mint(claims, deviceId);
  t.like(tickets.verify(ticket, deviceId), claims);
  t.true(ticket.length >= ticketCharacters.min && ticket.length <= ticketCharacters.max);
  t.is(tickets.verify(ticket, 'web-12fb6ed6'), undefined);
  t.is(createSyncTickets(Buffer.alloc(32, 2), systemRandom).verify(ticket, deviceId), undefined);
  t.not(tickets.mint(claims, deviceId), ticket);
});

test('no character of a ticket can be changed', (t) => {
  const ticket = tickets.mint(claims, deviceId);
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
  for (let at = 0; at < ticket.length; at += 1) {
    for (const other of characters) {
      if (other === ticket[at]) continue;
      t.is(tickets.verify(ticket.slice(0, at) + other + ticket.slice(at + 1), deviceId), undefined, `${at}`);
    }
  }
});

test('a ticket that is torn, joined with something or made up is none, and never crashes the reader', (t) => {
  const ticket = tickets.mint(claims, deviceId);
  fc.assert(
    fc.property(fc.nat(ticket.length), fc.string(), fc.nat(8), (at, inserted, removed) => {
      const altered = ticket.slice(0, at) + inserted + ticket.slice(at + removed);
      const verified = tickets.verify(altered, deviceId);
      if (altered === ticket) t.not(verified, undefined);
      else t.is(verified, undefined);
    }),
  );
});

test('a device id has 1 to 128 characters, the first of them a letter or digit', (t) => {
  for (const id of ['a', '0', deviceId, 'A:b._-', `a${'b'.repeat(127)}`]) t.true(isIdentifier(id), id);
  for (const id of ['', '-a', 'a b', 'ä', `a${'b'.repeat(128)}`, 1, null, undefined])
    t.false(isIdentifier(id));
});
