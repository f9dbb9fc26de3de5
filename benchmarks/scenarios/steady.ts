/** Loads that can run for any time: each connection's next request, after the last answer. */
import { randomUUID } from 'node:crypto';
import type { LoadOptions } from '../http-load.ts';
import { type Account, newItem, register, sync } from '../support/api-client.ts';
import { syncBytes } from '../support/requests.ts';

type Load = Required<Pick<LoadOptions, 'request' | 'onReply'>>;

const sharedUsers = 32;

/** Each user on `connections / users` devices, which continue from the token of the last answer, as clients do. */
async function syncing(
  url: string,
  users: number,
  items: (connection: number) => readonly object[],
  onBody: (connection: number, body: string) => void = () => {},
): Promise<Load> {
  const accounts = await Promise.all(Array.from({ length: users }, () => register(url)));
  const tokens = await Promise.all(
    // An account without an item has another token, and another way: every account of a client has its keys.
    accounts.map(async (account) => (await sync(url, account, { items: [newItem()] })).sync_token),
  );
  return {
    request(connection) {
      const user = connection % users;
      return syncBytes(url, accounts[user] as Account, {
        items: items(connection),
        sync_token: tokens[user],
      });
    },
    onReply(connection, _status, body) {
      tokens[connection % users] = /"sync_token":"([^"]+)"/.exec(body)?.[1] ?? '';
      onBody(connection, body);
    },
  };
}

/** One note for each connection, saved again and again with other content, based on the version in the last answer. */
function editing(url: string, connections: number): Promise<Load> {
  const notes = Array.from({ length: connections }, () => ({ uuid: randomUUID(), updated_at_timestamp: 0 }));
  return syncing(
    url,
    connections,
    (connection) => [{ ...newItem(), ...notes[connection] }],
    (connection, body) => {
      const version = /"updated_at_timestamp":(\d+)/.exec(body)?.[1];
      Object.assign(notes[connection] ?? {}, { updated_at_timestamp: Number(version) });
    },
  );
}

export const loads = {
  'idle-syncs': (url: string, _connections: number) => syncing(url, sharedUsers, () => []),
  saves: (url: string, _connections: number) => syncing(url, sharedUsers, () => [newItem()]),
  'saves-20kb': (url: string, _connections: number) =>
    syncing(url, sharedUsers, () => [{ ...newItem(), content: `004:${'x'.repeat(20_000)}` }]),
  edits: editing,
} satisfies Record<string, (url: string, connections: number) => Promise<Load>>;

export type LoadName = keyof typeof loads;
