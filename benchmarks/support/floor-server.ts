/**
 * The least that a server can do for a save, an idle sync or a page of a first sync with the same libraries, database and
 * bytes on the wire: what remains when every promise is dropped that costs time. It has no actors, cluster, vaults, revisions,
 * events, limits or checks, and forgets all accounts when it ends. No build can need less, so `benchmarks/compare.ts floor .`
 * shows how much of a request could be saved at all.
 *
 * A save does what no such server can leave out:
 * - the body is parsed, the token compared by its hash, and the reply made, with as many bytes as that of the real one
 * - the item's row is durable before the reply, with its fingerprint and all its indexes; so is the position of its user
 * - one statement, which is one transaction, takes all saves that came while others were on their way
 */
import { hash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { collectDefaultMetrics, register } from 'prom-client';
import { type ItemRow, item } from '../../actors/collection/item.ts';
import { fullItem, savedItem } from '../../actors/collection/item-fields.ts';
import { jsonType } from '../../gateway/http/responder.ts';
import {
  App,
  type HttpResponse,
  type us_listen_socket,
  us_socket_local_port,
} from '../../gateway/http/uws.ts';
import type { EmbeddedConnection } from '../../process/postgres/embedded.ts';
import { arrayParameter } from '../../runtime/store/postgres/sql.ts';
import { newItem } from './collection.ts';
import { startDatabase } from './database.ts';
import { serveFiles } from './floor-files.ts';

/** As many as the committer has. */
const inFlightMax = 2;
/** As many connections as the real one has for reads. */
const readersMax = 4;
/** As long as the headers of a real reply. */
const headers = `${jsonType}\r\nX-Padding: ${'x'.repeat(184)}`;
const emptyLists = '"messages":[],"shared_vaults":[],"shared_vault_invites":[],"notifications":[]';

interface User {
  readonly uuid: string;
  position: number;
  /** Where each item was first saved, which its key needs. */
  readonly items: Map<string, number>;
}

interface Save {
  readonly user: User;
  readonly rows: readonly ItemRow[];
  readonly done: () => void;
}

const users = new Map<string, User>();

const hashOf = (token: string): string => hash('sha256', token, 'base64url');

/** Their clients have gone, so nothing may be written to them. */
const aborted = new WeakSet<HttpResponse>();

function reply(res: HttpResponse, body: string): void {
  if (aborted.has(res)) return;
  res.cork(() => {
    res.writeHeader('Content-Type', headers).end(body);
  });
}

const enveloped = (user: User, data: string): string =>
  `{"meta":{"auth":{"userUuid":"${user.uuid}","roles":[{"uuid":"${user.uuid}","name":"CORE_USER"}]},"server":{"filesServerUrl":"http://127.0.0.1:3000"}},"data":${data}}`;

const columns = Object.keys(item.columns);
const types = Object.values(item.columns).map((type) => type.replace('?', '') as 'text');
const arrays = types.map((type, index) => `$${index + 3}::${type}[]`).join(', ');
const updates = columns.filter(
  (column) => !['collection', 'uuid', 'created_position', 'born'].includes(column),
);
const text = `WITH moved AS (
    UPDATE floor_user u SET position = w.position FROM unnest($1::uuid[], $2::int8[]) AS w(id, position) WHERE u.id = w.id)
  INSERT INTO item (${columns.join(', ')}, content_parts) SELECT ${columns.join(', ')}, 0 FROM unnest(${arrays}) AS w(${columns.join(', ')})
  ON CONFLICT (collection, uuid, created_position) DO UPDATE SET ${updates.map((column) => `${column} = excluded.${column}`).join(', ')}`;

/** Takes what has gathered whenever a connection is free. */
class Batches {
  readonly #idle: pg.Client[];
  /** The users of these batches. Two transactions that wait for each other's rows would be a deadlock. */
  readonly #underWay = new Set<User>();
  #gathered: Save[] = [];
  #scheduled = false;

  constructor(clients: pg.Client[]) {
    this.#idle = clients;
  }

  add(save: Save): void {
    this.#gathered.push(save);
    // What comes in the same turn of the loop shares a batch.
    if (this.#idle.length > 0 && !this.#scheduled) this.#schedule();
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    const saves = this.#gathered.filter(({ user }) => !this.#underWay.has(user));
    const client = saves.length === 0 ? undefined : this.#idle.pop();
    if (client === undefined) return;
    this.#gathered = this.#gathered.filter(({ user }) => this.#underWay.has(user));
    for (const { user } of saves) this.#underWay.add(user);
    const rows = saves.flatMap((save) => save.rows);
    const heads = [...new Set(saves.map(({ user }) => user))];
    const values = [
      arrayParameter(
        'uuid',
        heads.map(({ uuid }) => uuid),
      ),
      arrayParameter(
        'int8',
        heads.map(({ position }) => position),
      ),
      ...columns.map((column, at) =>
        arrayParameter(
          types[at] as 'text',
          rows.map((row) => row[column as keyof ItemRow]),
        ),
      ),
    ];
    client.query({ name: 'save', text, values }, (error: Error | null) => {
      if (error !== null) throw error;
      this.#idle.push(client);
      for (const { user, done } of saves) {
        this.#underWay.delete(user);
        done();
      }
      this.#send();
    });
  }
}

interface SyncBody {
  readonly items: readonly SentItem[];
  readonly sync_token?: string;
  readonly cursor_token?: string;
}

interface SentItem {
  readonly uuid: string;
  readonly content: string;
}

function rowOf(user: User, sent: SentItem): ItemRow {
  user.position += 1;
  const createdPosition = user.items.get(sent.uuid) ?? user.position;
  user.items.set(sent.uuid, createdPosition);
  const row = newItem(user.uuid, sent.uuid, user.position);
  const fingerprint = hash('sha256', sent.content, 'buffer');
  return Object.assign(row, { created_position: createdPosition, content: sent.content, fingerprint });
}

const pageText = `SELECT ${columns.join(', ')} FROM item WHERE collection = $1 AND position > $2 ORDER BY position LIMIT 151`;

/** A page of a first sync. It goes on behind the position of its cursor. */
async function page(res: HttpResponse, user: User, cursor: string, readers: pg.Pool): Promise<void> {
  const values = [user.uuid, Number(cursor)];
  const { rows } = await readers.query<ItemRow>({ name: 'page', text: pageText, values });
  const items = JSON.stringify(rows.slice(0, 150).map((row) => fullItem(row)));
  const next = rows.length > 150 ? `"cursor_token":"${rows[149]?.position}",` : '';
  const tokens = `${next}"sync_token":"${tokenOf(user)}"`;
  reply(
    res,
    enveloped(user, `{"retrieved_items":${items},"saved_items":[],"conflicts":[],${tokens},${emptyLists}}`),
  );
}

const tokenOf = (user: User): string => String(user.position).padStart(24, '0');

function sync(res: HttpResponse, user: User, body: Buffer, batches: Batches, readers: pg.Pool): void {
  const request = JSON.parse(body.toString()) as SyncBody;
  const { items, sync_token, cursor_token } = request;
  if (items.length === 0 && (sync_token === undefined || cursor_token !== undefined)) {
    void page(res, user, cursor_token ?? '0', readers);
    return;
  }
  const rows = items.map((sent) => rowOf(user, sent));
  const token = tokenOf(user);
  const answer = () => {
    const saved = JSON.stringify(rows.map((row) => savedItem(row)));
    const data = `{"retrieved_items":[],"saved_items":${saved},"conflicts":[],"sync_token":"${token}",${emptyLists}}`;
    reply(res, enveloped(user, data));
  };
  if (rows.length === 0) answer();
  else batches.add({ user, rows, done: answer });
}

async function registered(clients: readonly pg.Client[]): Promise<string> {
  const user = { uuid: randomUUID(), position: 0, items: new Map<string, number>() };
  const token = randomUUID();
  await clients[0]?.query('INSERT INTO floor_user VALUES ($1, 0)', [user.uuid]);
  users.set(hashOf(token), user);
  return enveloped(user, `{"user":{"uuid":"${user.uuid}"},"session":{"access_token":"${token}"}}`);
}

/** As the store's. */
const session =
  'SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan';

async function connected(connection: EmbeddedConnection): Promise<pg.Client> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(session);
  return client;
}

/** Resolves to the address. */
function listen(clients: readonly pg.Client[], readers: pg.Pool): Promise<string> {
  const batches = new Batches([...clients]);
  const app = App();
  serveFiles(app, dataDirectory);
  app.post('/*', (res, req) => {
    const isSync = req.getUrl() === '/v1/items';
    const user = users.get(hashOf(req.getHeader('authorization').slice('Bearer '.length)));
    const chunks: Buffer[] = [];
    res.onAborted(() => aborted.add(res));
    res.onData((chunk, isLast) => {
      // The library takes its buffer back after this call.
      chunks.push(Buffer.from(Buffer.from(chunk)));
      if (!isLast) return;
      if (user !== undefined && isSync) sync(res, user, Buffer.concat(chunks), batches, readers);
      else void registered(clients).then((body) => reply(res, body));
    });
  });
  return new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket: us_listen_socket | false) => {
      if (socket === false) reject(new Error('no port is free'));
      else resolve(`http://127.0.0.1:${us_socket_local_port(socket)}`);
    });
  });
}

/** For the counters of a comparison. */
function metrics(): Promise<string> {
  collectDefaultMetrics();
  const server = createServer((_request, response) => {
    void register.metrics().then((text) => response.end(text));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}

const dataDirectory = process.env['DATA_DIR'] ?? '';
const database = await startDatabase(dataDirectory, [item]);
const clients = await Promise.all(Array.from({ length: inFlightMax }, () => connected(database.connection)));
const readers = new pg.Pool({ ...database.connection, max: readersMax });
readers.on('connect', (client) => void client.query(session));
await clients[0]?.query('CREATE TABLE floor_user (id uuid PRIMARY KEY, position bigint NOT NULL)');
process.once('SIGTERM', () => {
  void Promise.all([...clients, readers].map((each) => each.end()))
    .then(() => database.stop())
    .then(() => process.exit());
});
console.log(`sync server: ${await listen(clients, readers)}`);
console.log(`probes: ${await metrics()}`);
