/** A person's socket: reopened whenever it ends, and its messages are recorded. */
import { setTimeout as pause } from 'node:timers/promises';
import { connect, isRefused, type SocketClient } from '../../kit/socket-client.ts';
import type { Person } from './person.ts';

const connectLimitMs = 3_000;
const pauseMs = 200;

interface Frame {
  readonly type: string;
  readonly payload: { readonly userUuid: string; readonly timestamp: number };
}

/** Until they are somebody else, or `isOver`. */
export async function listen(person: Person, isOver: () => boolean): Promise<void> {
  const { history } = person;
  while (!isOver()) {
    const user = person.userUuid;
    const onText = (text: string): void => {
      const { type, payload } = JSON.parse(text) as Frame;
      if (type !== 'ITEMS_CHANGED_ON_SERVER') return;
      const savedAtMs = history.momentOf(payload.timestamp / 1_000);
      history.add({ event: 'heard', user, by: payload.userUuid, savedAtMs });
    };
    const socket = await open(person, onText).catch(() => undefined);
    while (socket?.isClosed === false && user === person.userUuid && !isOver()) await pause(pauseMs);
    socket?.end();
    await pause(pauseMs);
  }
}

async function open(person: Person, onText: (text: string) => void): Promise<SocketClient | undefined> {
  const { client, token } = person;
  const answer = await client.call({ method: 'POST', path: '/v1/sockets/tokens', token });
  if (answer.status !== 200) return undefined;
  const { token: socketToken } = answer.body as { token: string };
  const dialling = connect(`${client.gateway}/sockets?authToken=${socketToken}`, { onText });
  const dialled = await Promise.race([dialling, pause(connectLimitMs, undefined)]);
  if (dialled === undefined) void dialling.then((late) => isRefused(late) || late.end()).catch(() => {});
  return dialled === undefined || isRefused(dialled) ? undefined : dialled;
}
