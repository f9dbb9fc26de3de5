/** A started server sends on its sockets exactly what it describes (`GET /v1/asyncapi.json`). */
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { note } from '../../kit/items.ts';
import { enterLane, run } from '../../kit/lane.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

interface Frame {
  readonly type: string;
}

/** A check of frames against the description, which collects the types that fitted. */
async function describedBy(server: TestServer, channel: 'sockets' | 'syncLane') {
  const { body } = await server.call('GET', '/v1/asyncapi.json');
  const { messages } = body.channels[channel];
  return (t: ExecutionContext, frames: readonly Frame[]): ReadonlySet<string> => {
    for (const frame of frames) {
      const described = messages[`server.${frame.type}`];
      t.truthy(described, frame.type);
      const checked = z.fromJSONSchema(described.payload).safeParse(frame);
      t.true(checked.success, `${frame.type}: ${checked.error?.message}`);
    }
    return new Set(frames.map(({ type }) => type));
  };
}

test('frames of the sync lane are as described', async (t) => {
  const server = await startServer(t);
  const described = await describedBy(server, 'syncLane');
  const phone = await server.device();
  const socket = await enterLane(t, phone);
  const { lane } = socket;
  const body = { api: '20240226', items: [note({ uuid: crypto.randomUUID() })] };
  await run(socket, 'command-1', body);
  await run(socket, 'command-2', { api: '20240226', items: 'none' });
  await lane.answer(await lane.status('command-1', body), 'STATUS');
  await lane.answer(await lane.status('command-3', body), 'STATUS');
  await lane.answer(lane.send('PING', {}), 'PONG');
  await lane.answer(lane.send('RPC_REQUEST', {}), 'ERROR');
  lane.send('PING', {}, { sequence: 99 });
  await socket.socket.closed;
  const types = described(t, lane.frames);
  for (const type of ['AUTHENTICATED', 'ACCEPTED', 'COMMITTED', 'STATUS', 'PONG', 'ERROR']) {
    t.true(types.has(type), type);
  }
});

test('frames of /sockets are as described', async (t) => {
  const server = await startServer(t);
  const described = await describedBy(server, 'sockets');
  const phone = await server.device();
  const laptop = await server.device();
  const socket = await laptop.socket(t);
  socket.send('ping');
  const { sync_token } = await laptop.sync({ sync_token: null });
  await phone.sync({ sync_token, items: [note({ uuid: crypto.randomUUID() })] });
  const texts = await socket.received(3);
  const types = described(
    t,
    texts.map((text) => JSON.parse(text)),
  );
  t.deepEqual([...types].sort(), ['ITEMS_CHANGED_ON_SERVER', 'PONG', 'SYNC_ITEMS_PUSHED']);
});
