/** Devices on the sync lane (docs/protocol/sockets.md, "The sync lane"), using the project's published client. */
import { Rate, Trend } from 'k6/metrics';
import { clearTimeout, setTimeout } from 'k6/timers';
import { WebSocket } from 'k6/websockets';
import {
  type LaneConnection,
  type LaneEnvironment,
  type LaneEvents,
  SyncLaneClient,
} from '../../docs/protocol/sync-lane-client.ts';
import { asyncCall } from './call.ts';
import { ciphertext } from './ciphertext.ts';
import { note, type SyncReply } from './items.ts';
import { slice } from './slice.ts';
import { baseUrl } from './users.ts';
import { uuid } from './uuid.ts';

/** From asking for a ticket to being authenticated. */
const laneOpen = new Trend('lane_open', true);
const laneFailed = new Rate('lane_failed');
const laneCommand = new Trend('lane_command', true);
/** Commands that HTTP had to finish, or that were refused. */
const laneLost = new Rate('lane_lost');

const api = '20240226';
const pageItems = 150;

/** An authenticated device; undefined if it is refused. */
export async function openLane(token: string): Promise<SyncLaneClient | undefined> {
  const client = new SyncLaneClient(environmentOf(token), 'web-12fb6ed5');
  const beganMs = Date.now();
  const isOpen = await client.connect();
  laneFailed.add(!isOpen, { slice: slice() });
  if (isOpen) {
    laneOpen.add(Date.now() - beganMs, { slice: slice() });
    return client;
  }
  client.close();
  return undefined;
}

export const pull = (client: SyncLaneClient, syncToken: string): Promise<SyncReply | undefined> =>
  run(client, [], syncToken);

export const save = (client: SyncLaneClient, syncToken: string): Promise<SyncReply | undefined> =>
  run(client, [note(ciphertext())], syncToken);

async function run(
  client: SyncLaneClient,
  items: readonly object[],
  syncToken: string,
): Promise<SyncReply | undefined> {
  const beganMs = Date.now();
  const body = { api, limit: pageItems, items, sync_token: syncToken };
  const { status, data, by } = await client.run({ id: uuid(), body });
  const reply = data as SyncReply;
  const isAnswered = status === 200 && by === 'lane' && reply.saved_items.length === items.length;
  laneLost.add(!isAnswered, { slice: slice() });
  if (isAnswered) laneCommand.add(Date.now() - beganMs, { slice: slice() });
  // A page that is too large for a frame comes over HTTP. The next command goes on behind it, or it would be asked for again.
  return status === 200 ? reply : undefined;
}

const environmentOf = (token: string): LaneEnvironment => ({
  async request({ path, headers, body }) {
    const operation = path === '/v1/items' ? 'lane-fallback' : 'lane-ticket';
    const read = ({ body: text }: { body: string | null }) => JSON.parse(text ?? '') as object;
    const answer = await asyncCall({ operation, path, token, headers, body }, read);
    return { status: answer === undefined ? 503 : 200, body: answer };
  },
  dial,
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
});

function dial(path: string, { opened, received, closed }: LaneEvents): LaneConnection {
  const origin = baseUrl();
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}${path}`, null, {
    headers: { Origin: origin },
    tags: { name: 'lane' },
  });
  socket.onopen = opened;
  socket.onmessage = (event) => received(String(event?.data));
  socket.onclose = closed;
  socket.onerror = closed;
  return { send: (text) => socket.send(text), close: (code) => socket.close(code) };
}
