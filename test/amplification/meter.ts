/** A server that counts its writes and answers, so that tests can measure the amplification of a request. */
import type { ExecutionContext } from 'ava';
import { defaultItemSettings } from '../../actors/collection/settings.ts';
import type { Commit, Write } from '../../runtime/store/store.ts';
import { FakeClock } from '../kit/clock.ts';
import { clientAddress } from '../kit/http.ts';
import { ModelDatabase, ModelStore } from '../kit/model-store/model-store.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { headBytes } from './bounds.ts';
import type { PreparedCall } from './worst-requests.ts';

export interface Meter {
  readonly server: TestServer;
  /** All rows and slices committed so far, each time anew. */
  writtenBytes(): number;
  /** Everything that exists now: rows, slices and blobs. */
  storedBytes(): number;
  ask(call: PreparedCall): Promise<{ readonly status: number; readonly bytes: number }>;
}

const settledMs = 10_000;

export async function startMeter(t: ExecutionContext): Promise<Meter> {
  const clock = new FakeClock();
  const store = new CountingStore(new ModelDatabase(clock));
  const server = await startServer(t, {
    // A server that sends no mail refuses switches and reminders.
    ...mailTo(new Postbox()),
    accounts: { calendar: true },
    // Every save makes a revision, so that a history is long at once.
    items: { revisions: { ...defaultItemSettings.revisions, pauseMs: 0 } },
    host: { clock, store },
  });
  return {
    server,
    writtenBytes: () => store.writtenBytes,
    storedBytes: () => store.storedBytes + blobBytes(server),
    async ask(call) {
      const answer = await fetch(server.url + call.path, requestOf(call));
      return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
    },
  };
}

const blobBytes = ({ files }: TestServer): number =>
  [...files.blobs.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);

/** The bytes sent: the head of a request, and its body. */
export const requestBytes = (call: PreparedCall): number => headBytes + Buffer.byteLength(bodyOf(call) ?? '');

export function requestOf(call: PreparedCall) {
  const { method, bearer, cookie, headers = {} } = call;
  const body = bodyOf(call);
  return {
    method,
    redirect: 'manual' as const,
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': clientAddress,
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(cookie && { cookie }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  };
}

const bodyOf = ({ body, text }: PreparedCall): string | undefined =>
  text ?? (body === undefined ? undefined : JSON.stringify(body));

/** Also runs the consequences of a request: timers, messages between actors. */
export const settle = ({ server }: Pick<Meter, 'server'>): Promise<void> => server.advance(settledMs);

class CountingStore extends ModelStore {
  writtenBytes = 0;
  readonly #stored = new Map<string, number>();

  get storedBytes(): number {
    return [...this.#stored.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  override commit(commits: readonly Commit[]): Promise<ReadonlySet<number>> {
    for (const { writes } of commits) for (const write of writes) this.#count(write);
    return super.commit(commits);
  }

  #count(write: Write): void {
    const row = 'put' in write ? write.put : write.remove;
    const key = JSON.stringify([write.table.name, ...write.table.key.map((column) => row[column])]);
    this.#stored.delete(key);
    if (!('put' in write)) return;
    const bytes = bytesOf(write.put);
    this.writtenBytes += bytes;
    this.#stored.set(key, bytes);
  }
}

const bytesOf = (row: object): number =>
  Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + Buffer.byteLength(value);
    return sum + (value instanceof Uint8Array ? value.byteLength : 8);
  }, 0);
