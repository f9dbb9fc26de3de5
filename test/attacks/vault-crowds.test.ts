/** A vault of many members with many sockets each: the cost of one member's saves for the others. */
import test from 'ava';
import { note } from '../kit/items.ts';
import { startServer } from '../kit/server.ts';
import { join, makeVault } from '../kit/vaults.ts';

const members = 6;
const socketsEach = 5;
const saves = 12;

test('a burst of saves is told every socket of the members twice at most, the first time at once', async (t) => {
  const server = await startServer(t);
  const owner = await server.device();
  const vault = await makeVault(owner);
  const sockets = [];
  for (let at = 0; at < members; at += 1) {
    const member = await server.device(`member-${at}@example.org`);
    await join(owner, vault, member);
    for (let n = 0; n < socketsEach; n += 1) sockets.push(await member.socket(t));
  }
  const before = sockets.map(({ texts }) => texts.length);
  const inVault = { shared_vault_uuid: vault, key_system_identifier: 'system' };
  for (let at = 0; at < saves; at += 1) await owner.save(note({ ...inVault, uuid: crypto.randomUUID() }));
  for (const [index, socket] of sockets.entries()) await socket.received((before[index] ?? 0) + 1);
  await server.advance(1_000);
  for (const [index, socket] of sockets.entries()) await socket.received((before[index] ?? 0) + 2);
  await server.advance(10_000);
  const frames = sockets.map(({ texts }, index) => texts.slice(before[index]));
  t.deepEqual(new Set(frames.map(({ length }) => length)), new Set([2]));
  t.true(frames.flat().every((text) => text.length < 1_024));
});
