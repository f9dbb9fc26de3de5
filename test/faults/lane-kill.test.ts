/**
 * Kill -9 between ACCEPTED and COMMITTED. After the next start STATUS tells the truth. The command has taken effect
 * once after its repeat over HTTP, whether it had before the kill or not.
 */
import test from 'ava';
import { build, dataDirectoryOf, started } from '../kit/built-server.ts';
import { Device } from '../kit/device.ts';
import { note } from '../kit/items.ts';
import { ask, enterLane } from '../kit/lane.ts';
import { digestOf } from '../kit/lane-client.ts';

const api = '20240226';
const kills = 3;
const settings = { E2E_TESTING: 'true' };

test.before(build);

test.serial('a command that a kill cut off takes effect once', async (t) => {
  const directory = dataDirectoryOf(t);
  let server = await started(t, { directory, settings });
  let device = await Device.register(server);
  const outcomes: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const id = `command-${kill}`;
    const body = { api, items: [note({ uuid: crypto.randomUUID() })], sync_token: null };
    const { lane, socket } = await enterLane(t, device);
    const sent = await lane.command(id, body);
    // At once, then after the commit while its answer may be on the way, then after the answer.
    await lane.answer(sent, 'ACCEPTED');
    if (kill === 1) await device.sync({ sync_token: null });
    if (kill === 2) await lane.answer(sent, 'COMMITTED');
    const wasCommitted = lane.frames.some(({ type }) => type === 'COMMITTED');
    server.child.kill('SIGKILL');
    await server.exitCode;
    await socket.closed;
    server = await started(t, { directory, settings });
    device = new Device(server, device.account);
    const status = (await ask(await enterLane(t, device), id, body)).payload.status;
    outcomes.push(status);
    t.true(status === 'COMMITTED' || status === 'UNKNOWN', status);
    if (wasCommitted) t.is(status, 'COMMITTED');
    const stored = async () =>
      (await device.syncAll({ sync_token: null })).flatMap((page) => page.retrieved_items);
    t.is((await stored()).length, kill + (status === 'COMMITTED' ? 1 : 0));
    const over = await device.call('POST', '/v1/items', {
      body,
      headers: { 'x-sync-command-id': id, 'x-sync-command-digest': await digestOf(body) },
    });
    t.is(over.headers.get('x-sync-command-replayed'), String(status === 'COMMITTED'));
    t.is(over.body.saved_items.length, 1);
    t.is((await stored()).length, kill + 1);
  }
  t.log(outcomes.join(', '));
});
