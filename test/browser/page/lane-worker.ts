/** A worker with the published client of the sync lane, as a page of a web app runs it. */
import { SyncLaneClient } from '../../../docs/protocol/sync-lane-client.ts';
import type { LaneCall, LaneSession } from './lane.ts';

// biome-ignore lint/suspicious/noExplicitAny: the types of the language level do not know workers
const worker = globalThis as any;
let client: SyncLaneClient | undefined;
let socket: { close(): void } | undefined;

function start({ host, token }: LaneSession): void {
  client = new SyncLaneClient(
    {
      async request({ method, path, headers, body }) {
        const answer = await fetch(host + path, {
          method,
          body: JSON.stringify(body),
          headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        });
        return { status: answer.status, body: await answer.json() };
      },
      dial(path, { opened, received, closed }) {
        const dialled = new worker.WebSocket(host.replace(/^http/, 'ws') + path);
        socket = dialled;
        dialled.onopen = opened;
        dialled.onmessage = ({ data }: { data: string }) => received(data);
        dialled.onclose = closed;
        return dialled;
      },
    },
    'worker-1',
  );
}

function answerOf({ method, args }: LaneCall): unknown {
  if (method === 'start') return start(args[0] as LaneSession);
  if (method === 'cut') return socket?.close();
  if (method === 'state') return client?.state;
  return client?.run(args[0] as Parameters<SyncLaneClient['run']>[0]);
}

worker.onmessage = async ({ data }: { data: LaneCall }) => {
  try {
    worker.postMessage({ id: data.id, answer: await answerOf(data) });
  } catch (error) {
    worker.postMessage({ id: data.id, error: String(error) });
  }
};
