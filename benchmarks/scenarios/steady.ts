/** Loads that can run for any time: each connection's next request, after the last answer. */
import { randomUUID } from 'node:crypto';
import type { LoadOptions } from '../http-load.ts';
import { type Account, newItem, register, upload } from '../support/api-client.ts';
import { cursorTokenPattern, syncBytes, syncTokenPattern } from '../support/requests.ts';

type Load = Required<Pick<LoadOptions, 'request' | 'onReply'>>;

const sharedUsers = 32;
const atOnce = 100;
const newItems = (count: number) => Array.from({ length: count }, () => newItem());

interface Syncs {
  readonly users: number;
  /** The notes of each account before the load. An account without any has another kind of token, and takes another path. */
  readonly stored?: number;
  items(connection: number): readonly object[];
  onBody?(connection: number, body: string): void;
}

/** Each user on `connections / users` devices, which continue from the token of the last answer, as clients do. */
async function syncing(url: string, { users, stored = 1, items, onBody }: Syncs): Promise<Load> {
  const accounts = await Promise.all(Array.from({ length: users }, () => register(url)));
  const tokens = await Promise.all(accounts.map((account) => upload(url, account, stored)));
  return {
    request(connection) {
      const user = connection % users;
      return syncBytes(url, accounts[user] as Account, {
        items: items(connection),
        sync_token: tokens[user],
      });
    },
    onReply(connection, _status, body) {
      tokens[connection % users] = syncTokenPattern.exec(body)?.[1] ?? '';
      onBody?.(connection, body);
    },
  };
}

/** New notes of one size. */
const sized = (content: string) => () => [{ ...newItem(), content: `004:${content}` }];

/** One note for each connection, saved again and again with other content, based on the version in the last answer. */
function editing(url: string, connections: number): Promise<Load> {
  const notes = Array.from({ length: connections }, () => ({ uuid: randomUUID(), updated_at_timestamp: 0 }));
  return syncing(url, {
    users: connections,
    items: (connection) => [{ ...newItem(), ...notes[connection] }],
    onBody: (connection, body) => {
      const version = /"updated_at_timestamp":(\d+)/.exec(body)?.[1];
      Object.assign(notes[connection] ?? {}, { updated_at_timestamp: Number(version) });
    },
  });
}

/** Each connection reads all items of an account, page by page, and then begins anew, as a new device. */
async function firstSyncing(url: string, connections: number): Promise<Load> {
  const account = await register(url);
  await upload(url, account, atOnce * 100);
  const tokens: object[] = Array.from({ length: connections }, () => ({}));
  return {
    request: (connection) => syncBytes(url, account, { items: [], ...tokens[connection] }),
    onReply(connection, _status, body) {
      const cursor_token = cursorTokenPattern.exec(body)?.[1];
      const sync_token = syncTokenPattern.exec(body)?.[1];
      tokens[connection] = cursor_token === undefined ? {} : { sync_token, cursor_token };
    },
  };
}

const uploaders = 2;

/** Two connections upload 100 items at once, each for a user of its own. All others find nothing new. */
async function besideUploads(url: string): Promise<Load> {
  const reads = await syncing(url, { users: sharedUsers, items: () => [] });
  const uploads = await syncing(url, { users: uploaders, items: () => newItems(atOnce) });
  const of = (connection: number) => (connection < uploaders ? uploads : reads);
  return {
    request: (connection) => of(connection).request(connection),
    onReply: (connection, ...reply) => of(connection).onReply(connection, ...reply),
  };
}

const largeAccount = { users: 1, stored: 100_000 };

export const loads = {
  'idle-syncs': (url: string, _connections: number) => syncing(url, { users: sharedUsers, items: () => [] }),
  saves: (url: string, _connections: number) =>
    syncing(url, { users: sharedUsers, items: () => newItems(1) }),
  'saves-20kb': (url: string, _connections: number) =>
    syncing(url, { users: sharedUsers, items: sized('x'.repeat(20_000)) }),
  'saves-1mb': (url: string, connections: number) =>
    syncing(url, { users: connections, items: sized('x'.repeat(1_000_000)) }),
  edits: editing,
  /** A reply is a page of 150 items. */
  'first-syncs': firstSyncing,
  /** A reply is 100 saved items. */
  uploads: (url: string, connections: number) =>
    syncing(url, { users: connections, items: () => newItems(atOnce) }),
  /** One account on all connections. */
  'saves-100000-items': (url: string, _connections: number) =>
    syncing(url, { ...largeAccount, items: () => newItems(1) }),
  'idle-syncs-100000-items': (url: string, _connections: number) =>
    syncing(url, { ...largeAccount, items: () => [] }),
  'idle-syncs-beside-uploads': (url: string, _connections: number) => besideUploads(url),
} satisfies Record<string, (url: string, connections: number) => Promise<Load>>;

export type LoadName = keyof typeof loads;
