/**
 * The requests of each route with the most answer or writes for the fewest bytes. A route that is in neither list
 * fails the test. Find out with what its answer and its writes grow, and which smallest request triggers them.
 */

import { makeToken, publish, showing, wantCalendar } from '../kit/calendar.ts';
import type { Device } from '../kit/device.ts';
import { ciphertext, RemoteFile } from '../kit/files.ts';
import type { Call } from '../kit/http.ts';
import { note } from '../kit/items.ts';
import type { TestServer } from '../kit/server.ts';
import { invite, join, makeVault } from '../kit/vaults.ts';
import type { Exception } from './bounds.ts';

export interface PreparedCall extends Call {
  readonly method: string;
  readonly path: string;
}

export interface WorstRequest {
  readonly route: string;
  /** The request, and what it addresses. */
  readonly worst: string;
  readonly answer?: Exception;
  readonly writes?: Exception;
  /** Stores the data for the answer, and returns the request. The stored data counts. */
  prepare(device: Device, server: TestServer): Promise<PreparedCall>;
}

const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;
const largeBytes = 512 * kibibyte;
const few = 12;
const many = 200;
const numbered = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Checks success, because the test must not measure a refusal. @throws Error */
async function done(device: Device, method: string, path: string, body?: unknown) {
  const answer = await device.call(method, path, body === undefined ? {} : { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

export const signedIn = (
  { account }: Device,
  method: string,
  path: string,
  call: Call = {},
): PreparedCall => ({
  ...call,
  method,
  path,
  bearer: account.access,
  cookie: account.cookie,
});

type Fill = (device: Device, server: TestServer) => Promise<unknown>;

/** A list that is read after `fill` has made its entries. */
const listed = (path: string, worst: string, fill: Fill, method = 'GET'): WorstRequest => ({
  route: `${method} ${path}`,
  worst,
  prepare: async (device, server) => {
    await fill(device, server);
    return signedIn(device, method, path.replace(':userUuid', device.account.userUuid));
  },
});

const made =
  (path: string, body: (at: number, device: Device) => object): Fill =>
  async (device) => {
    for (const at of numbered(few)) await done(device, 'POST', path, body(at, device));
  };

/** The one large item of an account. It ends with letters, which have two spellings. */
const uuidOf = ({ account }: Device): string =>
  `abcdefab-cdef-4abc-8def-${account.userUuid.slice(-12).replaceAll(/./g, (digit) => 'abcdef'.charAt(Number.parseInt(digit, 16) % 6))}`;
const spelt = (uuid: string, at: number): string =>
  uuid.slice(0, at % 36) + uuid.slice(at % 36).toUpperCase();

const smallNotes = () => numbered(many).map(() => note({ uuid: crypto.randomUUID() }));
const large = (device: Device, content = 'x') =>
  device.save(note({ uuid: uuidOf(device), content: content.repeat(largeBytes) }));

/** A note with revisions, all of which are large. */
const withHistory: Fill = async (device) => {
  let version = 0;
  for (const at of numbered(few)) {
    const content = `${at}`.repeat(20_000);
    const { saved_items: saved } = await device.sync({
      items: [note({ uuid: uuidOf(device), content, updated_at_timestamp: version })],
    });
    version = saved[0]?.updated_at_timestamp ?? 0;
  }
};

const revisions: readonly WorstRequest[] = [
  {
    route: 'GET /v2/items/:itemUuid/revisions',
    worst: 'the history of a note that was saved many times',
    prepare: async (device, server) => {
      await withHistory(device, server);
      return signedIn(device, 'GET', `/v2/items/${uuidOf(device)}/revisions`);
    },
  },
  {
    route: 'GET /v2/items/:itemUuid/revisions/:id',
    worst: 'a large revision, all of it escaped',
    prepare: async (device) => {
      await large(device, '"');
      const path = `/v2/items/${uuidOf(device)}/revisions`;
      const body = await done(device, 'GET', path);
      return signedIn(device, 'GET', `${path}/${body.revisions[0].uuid}`);
    },
  },
];

const items: readonly WorstRequest[] = [
  {
    route: 'POST /v1/items',
    worst: 'one large note, which an outdated save conflicts with, named 200 times in different spellings',
    prepare: async (device) => {
      await large(device);
      const sent = numbered(many).map((at) => ({
        uuid: spelt(uuidOf(device), at),
        content: 'y',
        updated_at_timestamp: 5,
      }));
      return signedIn(device, 'POST', '/v1/items', { body: { api: '20200115', items: sent } });
    },
  },
  {
    route: 'POST /v1/items',
    worst: 'a first sync of many small notes',
    prepare: async (device) => {
      await device.sync({ items: smallNotes() });
      return signedIn(device, 'POST', '/v1/items', { body: { api: '20200115', limit: many } });
    },
  },
  {
    route: 'POST /v1/items',
    worst: 'small duplicates of one large note',
    writes: {
      bytes: 16 * mebibyte,
      reason:
        'An account may have 16 MiB of histories copied a day, besides eight times what its saves have written.',
    },
    prepare: async (device) => {
      await large(device);
      const sent = numbered(40).map(() => note({ uuid: crypto.randomUUID(), duplicate_of: uuidOf(device) }));
      return signedIn(device, 'POST', '/v1/items', { body: { api: '20200115', items: sent } });
    },
  },
  {
    route: 'POST /v1/items/check-integrity',
    worst: 'of many items the client names none',
    prepare: async (device) => {
      await device.sync({ items: smallNotes() });
      return signedIn(device, 'POST', '/v1/items/check-integrity', { body: { integrityPayloads: [] } });
    },
  },
  {
    route: 'GET /v1/items/:uuid',
    worst: 'a large note',
    prepare: async (device) => {
      await large(device, '"');
      return signedIn(device, 'GET', `/v1/items/${uuidOf(device)}`);
    },
  },
  ...revisions,
  {
    route: 'GET /v1/users/:userUuid/requests/:requestUuid',
    worst: 'the download of many small notes',
    prepare: async (device) => {
      await device.sync({ items: smallNotes() });
      const requests = `/v1/users/${device.account.userUuid}/requests`;
      const { request } = await done(device, 'POST', requests, { requestType: 'data-export' });
      return signedIn(device, 'GET', request.path);
    },
  },
];

const vaultList = (path: string, worst: string): WorstRequest => ({
  route: `GET ${path}`,
  worst,
  prepare: async (device, server) => {
    const vault = await makeVault(device);
    for (const at of numbered(4)) {
      const other = await server.device(
        `${path}-${at}-${device.account.userUuid}@example.org`.replaceAll(/[/:]/g, ''),
      );
      if (at % 2 === 0) await join(device, vault, other);
      else await invite(device, vault, other.account.userUuid);
    }
    return signedIn(device, 'GET', path.replace(':sharedVaultUuid', vault));
  },
});

const message = (recipient: Device) => ({
  recipient_uuid: recipient.account.userUuid,
  encrypted_message: '"'.repeat(10_000),
});

const calendar = (method: string, path: string, worst: string, call: Call): WorstRequest => ({
  route: `${method} /dav${path}`,
  worst,
  prepare: async (device) => {
    await wantCalendar(device);
    for (const at of numbered(60))
      await publish(device, { uid: `todo-${at}`, description: '&";\n'.repeat(50) });
    const { token } = await makeToken(device);
    const actual = `/dav${path.replace(':userUuid', device.account.userUuid).replace(':file', 'todo-1.ics')}`;
    const headers = { ...showing(token).headers, 'content-type': 'text/xml', ...call.headers };
    return { ...call, method, path: actual, headers };
  },
});

/** The limit of an account. */
const todosMax = 10_000;
/** The limit of one request. */
const payloadsMax = 500_000;

const fillCalendar: Fill = async (device) => {
  await wantCalendar(device);
  for (const at of numbered(todosMax))
    await publish(device, { uid: `todo-${at}`, description: 'd'.repeat(400) });
};

/** As many to-dos as an account may have. */
const fullCalendar = (method: string, worst: string, call: Call): WorstRequest => ({
  route: `${method} /dav/calendars/:userUuid/todos`,
  worst,
  prepare: async (device, server) => {
    await fillCalendar(device, server);
    const { token } = await makeToken(device);
    const headers = { ...showing(token).headers, 'content-type': 'text/xml', ...call.headers };
    return { ...call, method, path: `/dav/calendars/${device.account.userUuid}/todos`, headers };
  },
});

const names = numbered(90)
  .map((at) => `<${'n'.repeat(60)}${at + 10}/>`)
  .join('');
const propfind = {
  text: `<D:propfind xmlns:D="DAV:"><D:prop>${names}</D:prop></D:propfind>`,
  headers: { depth: '1' },
};
const collections = ['', '/principals', '/principals/:userUuid', '/calendars/:userUuid'];
const resources = [...collections, '/calendars/:userUuid/todos', '/calendars/:userUuid/todos/:file'];

const dav: readonly WorstRequest[] = [
  ...resources.map((path) =>
    calendar('PROPFIND', path, 'many long names that no resource has, at depth 1', propfind),
  ),
  ...['/calendars/:userUuid/todos', '/calendars/:userUuid/todos/:file'].flatMap((path) => [
    calendar('GET', path, 'to-dos whose text is escaped', {}),
    calendar('REPORT', path, 'all to-dos with their text', {
      text: '<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop></C:calendar-query>',
    }),
  ]),
  {
    ...calendar(
      'REPORT',
      '/calendars/:userUuid/todos',
      'one large to-do by 1,000 spellings of its address',
      {},
    ),
    prepare: async (device) => {
      await wantCalendar(device);
      await publish(device, { uid: 'abcdefghij', description: 'd'.repeat(60_000) });
      const { token } = await makeToken(device);
      const path = `/dav/calendars/${device.account.userUuid}/todos/`;
      const spelling = (at: number): string =>
        [...'abcdefghij']
          .map((letter, bit) => ((at >> bit) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter))
          .join('');
      const hrefs = numbered(1_000)
        .map((at) => `<D:href>${path}${spelling(at)}.ics</D:href>`)
        .join('');
      return {
        method: 'REPORT',
        path,
        headers: { ...showing(token).headers, 'content-type': 'text/xml' },
        text: `<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop>${hrefs}</C:calendar-multiget>`,
      };
    },
  },
];

const share = { type: 'note', encryptedPayload: '"'.repeat(largeBytes), nickname: 'n'.repeat(200) };

const lists: readonly WorstRequest[] = [
  listed('/v1/sessions', 'sessions with long names of devices', async (device) => {
    for (const _ of numbered(few)) await device.another({}, { headers: { 'user-agent': 'x'.repeat(400) } });
  }),
  listed('/v1/users/:userUuid/audit-trail', 'events of many sign-ins', async (device) => {
    for (const _ of numbered(few)) await device.another();
  }),
  listed(
    '/v1/app-passwords',
    'app passwords with long labels',
    made('/v1/app-passwords', (at) => ({ label: `${at}`.repeat(50) })),
  ),
  listed('/v1/trusted-devices', 'devices that are trusted', async (device) =>
    done(device, 'POST', '/v1/trusted-devices', {}),
  ),
  listed(
    '/v1/mcp-tokens',
    'bridge tokens',
    made('/v1/mcp-tokens', (at) => ({
      label: `bridge ${at}`,
      scope: 'read',
      wrappedKeys: '{"nonce":"n","ciphertext":"c"}',
      kdfSalt: '00'.repeat(16),
      kdfParams: '{"alg":"x"}',
    })),
  ),
  listed(
    '/v1/email-reminders',
    'reminders',
    made('/v1/email-reminders', () => ({ dueAt: 4e12, message: 'm'.repeat(400) })),
  ),
  listed(
    '/v1/dead-man-switches',
    'switches',
    made('/v1/dead-man-switches', () => ({
      recipientEmail: 'bob@example.org',
      message: 'm'.repeat(400),
      intervalDays: 30,
      shareUrl: 'https://notes.test/#/share/x',
    })),
  ),
  listed('/v1/subscription-invites', 'invites to a subscription', async (device) => {
    for (const at of numbered(4))
      await done(device, 'POST', '/v1/subscription-invites', {
        identifier: `friend-${at}@example.org`,
        api: '20240226',
      });
  }),
  listed('/v1/shared-vaults/invites', 'invites that others have sent', async (device, server) => {
    const owner = await server.device(`owner-${device.account.userUuid}@example.org`);
    for (const _ of numbered(4)) await invite(owner, await makeVault(owner), device.account.userUuid);
  }),
  listed('/v1/messages', 'messages of others', async (device, server) => {
    const sender = await server.device(`sender-${device.account.userUuid}@example.org`);
    for (const _ of numbered(few)) await done(sender, 'POST', '/v1/messages', message(device));
  }),
  listed('/v1/messages/outbound', 'messages that were sent', async (device, server) => {
    const recipient = await server.device(`recipient-${device.account.userUuid}@example.org`);
    for (const _ of numbered(few)) await done(device, 'POST', '/v1/messages', message(recipient));
  }),
  listed('/v1/users/:userUuid/settings', 'settings', async (device) => {
    const path = `/v1/users/${device.account.userUuid}/settings`;
    await done(device, 'PUT', path, { name: 'EXTENSION_KEY', value: 'x'.repeat(1_000), sensitive: false });
  }),
  listed(
    '/v1/shares',
    'shares with long nicknames',
    made('/v1/shares', () => share),
  ),
  listed('/v1/caldav/todos', 'to-dos', async (device) => {
    await wantCalendar(device);
    for (const at of numbered(few))
      await publish(device, { uid: `todo-${at}`, description: '"'.repeat(5_000) });
  }),
  listed('/v1/caldav/tokens', 'calendar tokens', async (device) => {
    await wantCalendar(device);
    for (const at of numbered(few)) await makeToken(device, `${at}`.repeat(100));
  }),
  vaultList('/v1/shared-vaults', 'vaults with members'),
  vaultList('/v1/shared-vaults/:sharedVaultUuid/users', 'members of a vault'),
  vaultList('/v1/shared-vaults/:sharedVaultUuid/invites', 'invites to a vault'),
  vaultList('/v1/shared-vaults/invites/outbound', 'invites that were sent'),
  {
    route: 'GET /v1/shares/:shareId',
    worst: 'a large share, which is given in the envelope and beside it',
    prepare: async (device) => {
      const { shareId } = await done(device, 'POST', '/v1/shares', share);
      return { method: 'GET', path: `/v1/shares/${shareId}` };
    },
  },
  ...['/v1/files', '/files/v1/files'].map(
    (path): WorstRequest => ({
      route: `GET ${path}`,
      worst: 'a file, whole',
      prepare: async (device) => {
        const file = new RemoteFile(device);
        await file.upload(ciphertext(largeBytes));
        const headers = { 'x-valet-token': await file.token('read'), range: `bytes=0-${largeBytes - 1}` };
        return { method: 'GET', path, headers };
      },
    }),
  ),
  {
    route: 'GET /v1/openapi.json',
    worst: 'the description, by anybody',
    answer: {
      bytes: 768 * kibibyte,
      reason:
        'One text, the same for all: it is made once, and sent as fast as its reader takes it. `RATE_LIMIT_PUBLIC` bounds how often.',
    },
    prepare: async () => ({ method: 'GET', path: '/v1/openapi.json' }),
  },
  {
    route: 'GET /v1/asyncapi.json',
    worst: 'the description of the sockets, by anybody',
    answer: {
      bytes: 96 * kibibyte,
      reason: 'One text, the same for all, as the other description.',
    },
    prepare: async () => ({ method: 'GET', path: '/v1/asyncapi.json' }),
  },
  {
    route: 'GET /admin',
    worst: 'the page for administrators, by anybody',
    answer: {
      bytes: 96 * kibibyte,
      reason: 'One text, the same for all, and only where an operator has asked for it.',
    },
    prepare: async () => ({ method: 'GET', path: '/admin' }),
  },
];

/** Takes seconds to prepare, so only `benchmarks/event-loop.ts` uses it. */
export const largestRequests: readonly WorstRequest[] = [
  {
    route: 'POST /v1/items/check-integrity',
    worst: `of ${payloadsMax} items that a client names, the server has none`,
    prepare: async (device) => {
      const integrityPayloads = numbered(payloadsMax).map((at) => ({
        uuid: crypto.randomUUID(),
        updated_at_timestamp: 1_700_000_000_000_000 + at,
      }));
      return signedIn(device, 'POST', '/v1/items/check-integrity', { body: { integrityPayloads } });
    },
  },
  fullCalendar('PROPFIND', `properties of ${todosMax} to-dos`, { headers: { depth: '1' } }),
  fullCalendar('REPORT', `${todosMax} to-dos with their text`, {
    text: '<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop></C:calendar-query>',
  }),
  fullCalendar('REPORT', `a filter that none of ${todosMax} to-dos matches`, {
    text: '<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VTODO"><C:prop-filter name="DUE"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>',
  }),
  fullCalendar('GET', `${todosMax} to-dos`, {}),
  {
    route: 'GET /v1/caldav/todos',
    worst: `${todosMax} to-dos`,
    prepare: async (device, server) => {
      await fillCalendar(device, server);
      return signedIn(device, 'GET', '/v1/caldav/todos');
    },
  },
];

export const worstRequests: readonly WorstRequest[] = [...items, ...dav, ...lists];
