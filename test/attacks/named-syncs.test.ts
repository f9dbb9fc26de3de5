/** Syncs that their client has named: how much of them an account can keep in the server's memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import type { Device } from '../kit/device.ts';
import { startServer } from '../kit/server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const mebibyte = 1_024 * 1_024;
/** As many as an actor remembers. */
const syncs = 16;
const long = (): string => 'x'.repeat(4 * mebibyte);
const large: readonly (readonly [what: string, fields: object])[] = [
  ['type', { content_type: long() }],
  ['token', { sync_token: long() }],
  ['cursor', { cursor_token: long() }],
  ['vaults', { shared_vault_uuids: Array.from({ length: 4 }, () => 'x'.repeat(mebibyte)) }],
  ['conflicts', { items: [{ uuid: long(), content: '', content_type: 'Note' }] }],
];

const named = (device: Device, id: string, fields: object) =>
  device.call('POST', '/v1/items', {
    body: { api: '20240226', ...fields },
    headers: { 'x-sync-command-id': id, 'x-sync-command-digest': 'a'.repeat(64) },
  });

for (const [what, fields] of large) {
  test.serial(`named syncs with a large ${what} change nothing, and are not kept in memory`, async (t) => {
    const server = await startServer(t);
    const phone = await server.device();
    const heldBytes = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    t.is((await named(phone, 'warm-up', fields)).status, 200);
    const before = heldBytes();
    for (let each = 0; each < syncs; each += 1) await named(phone, `sync-${each}`, fields);
    t.true(heldBytes() - before < 16 * mebibyte, `${Math.round((heldBytes() - before) / mebibyte)} MiB`);
    // The server still knows that each was executed.
    const { command } = (await phone.call('GET', `/v1/items/sync-command/sync-${syncs - 1}`)).body;
    t.is(command.status, 'committed');
  });
}
