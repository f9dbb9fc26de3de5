/**
 * A signed-in device with real HTTP calls. Its state comes from its syncs alone, its writes are based on that, and
 * everything goes into the history. It has one sync in flight at a time, like clients.
 */
import { headerSessions } from '../kit/account.ts';
import type { SeededRandom } from '../kit/random.ts';
import { membershipsIn } from '../simulation/checkers/sync-token.ts';
import type { Answer, Client, Request } from './client.ts';
import { UnansweredError } from './client.ts';
import type { Conflict, History, Seen, Write } from './history.ts';
import { Lane } from './lane.ts';
import type { FailureReason, Tally } from './tally.ts';
import { itemOf, seenOf, type WireItem } from './text.ts';

export interface DeviceOptions {
  readonly user: string;
  readonly name: string;
  readonly accessToken: string;
  readonly client: Client;
  readonly history: History;
  readonly random: SeededRandom;
  readonly tally: Tally;
  /** It syncs over the sync lane if it can. */
  readonly holdsLane?: boolean;
}

interface SyncBody {
  readonly saved_items: readonly WireItem[];
  readonly retrieved_items: readonly WireItem[];
  readonly conflicts: readonly {
    readonly type: string;
    readonly server_item?: WireItem;
    readonly unsaved_item?: { readonly uuid: string };
  }[];
  readonly sync_token: string;
  readonly cursor_token?: string;
}

interface HeldItem {
  readonly version: number;
  readonly deleted: boolean;
  readonly vault?: string;
}

interface NamedBody {
  readonly command?: { readonly id: string };
}

/** Small, so that syncs come in pages. */
const pageItems = 40;
const syncPath = '/v1/items';
const largestUpload = 30;
/** The share of named saves that it sends once more. */
const replays = 0.1;

/** Not one of ours, so the server answers with everything, tombstones included. */
export const foreignToken = Buffer.from('2:1.0').toString('base64');

/** The server does not accept the session. */
export class RefusedError extends Error {}

export class Device {
  readonly #options: DeviceOptions;
  readonly #items = new Map<string, HeldItem>();
  readonly #lane: Lane | undefined;
  #syncToken: string | undefined;

  constructor(options: DeviceOptions) {
    this.#options = options;
    const { history, user, name, holdsLane = false } = options;
    const deviceId = name.replaceAll('/', ':');
    this.#lane = holdsLane ? new Lane({ ...options, deviceId }) : undefined;
    history.add({ event: 'opened', user, device: name });
  }

  get live(): readonly string[] {
    return [...this.#items].filter(([, { deleted }]) => !deleted).map(([uuid]) => uuid);
  }

  /** A living item. */
  held(uuid: string): HeldItem | undefined {
    const held = this.#items.get(uuid);
    return held?.deleted ? undefined : held;
  }

  save(write: Write): Promise<void> {
    return this.#syncAll([write]);
  }

  /** Saves new items. */
  create(count: number): Promise<void> {
    const { random } = this.#options;
    const writes = Array.from({ length: count }, () => ({
      uuid: random.uuid(),
      nonce: random.uuid(),
      base: 0,
      deleted: false,
    }));
    return this.#syncAll(writes);
  }

  upload(): Promise<void> {
    return this.create(2 + this.#options.random.below(largestUpload));
  }

  edit(): Promise<void> {
    return this.#change(false);
  }

  remove(): Promise<void> {
    return this.#change(true);
  }

  sync(): Promise<void> {
    return this.#syncAll([]);
  }

  /** Asks which items differ from those on this device. */
  async compare(): Promise<void> {
    const { history, user, name } = this.#options;
    const integrityPayloads = this.live.map((uuid) => ({
      uuid,
      updated_at_timestamp: this.#items.get(uuid)?.version,
    }));
    const call = history.nextCall();
    history.add({ event: 'sent', call, user, device: name, writes: [], continues: true });
    const path = '/v1/items/check-integrity';
    const body = { api: headerSessions, integrityPayloads };
    const answer = await this.#call(call, { method: 'POST', path, body });
    const { mismatches } = answer as { mismatches: { uuid: string; updated_at_timestamp: number }[] };
    const reported = mismatches.map(({ uuid, updated_at_timestamp: version }) => ({ uuid, version }));
    history.add({ event: 'compared', call, user, device: name, mismatches: reported });
  }

  async signOut(): Promise<void> {
    const { history, client, name, accessToken } = this.#options;
    history.add({ event: 'closing', device: name });
    this.#lane?.close();
    // 401: an earlier attempt ended it, and its answer was lost.
    await client.call({ method: 'POST', path: '/v1/logout', token: accessToken });
    history.add({ event: 'closed', device: name });
  }

  /** Whether the server refuses the session of a signed-out device. */
  async isRefused(): Promise<boolean> {
    try {
      await this.#syncAll([]);
      return false;
    } catch (error) {
      if (error instanceof RefusedError) return true;
      throw error;
    }
  }

  #change(deleted: boolean): Promise<void> {
    const { random } = this.#options;
    const { live } = this;
    if (live.length === 0) return this.create(1);
    const uuid = random.pick(live);
    const base = this.#items.get(uuid)?.version ?? 0;
    return this.#syncAll([{ uuid, nonce: random.uuid(), base, deleted }]);
  }

  /** One sync with all its pages. */
  async #syncAll(writes: readonly Write[]): Promise<void> {
    let page = await this.#syncPage(writes, undefined);
    while (page.cursor_token !== undefined) page = await this.#syncPage([], page.cursor_token);
  }

  async #syncPage(writes: readonly Write[], cursor: string | undefined): Promise<SyncBody> {
    const { history, user, name, tally } = this.#options;
    const call = history.nextCall();
    const token = cursor ?? this.#syncToken;
    const named = this.#lane !== undefined;
    history.add({ event: 'sent', call, user, device: name, writes, continues: cursor !== undefined, named });
    const body = {
      api: headerSessions,
      limit: pageItems,
      sync_token: this.#syncToken,
      cursor_token: cursor,
      items: writes.map((write) => itemOf(write)),
    };
    const page = (await this.#call(call, { method: 'POST', path: syncPath, body }, writes)) as SyncBody &
      NamedBody;
    const saved = page.saved_items.map(({ uuid, updated_at_timestamp: version }) => ({ uuid, version }));
    const retrieved = page.retrieved_items.map(seenOf);
    const conflicts = page.conflicts.map(
      ({ type, server_item: stored, unsaved_item: unsaved }): Conflict => ({
        type,
        uuid: stored?.uuid ?? unsaved?.uuid ?? '',
        stored: stored && seenOf(stored),
      }),
    );
    const complete = page.cursor_token === undefined;
    const dropped = departed(token, page.sync_token);
    const drops = dropped.length > 0 && { dropped };
    history.add({ event: 'answered', call, saved, retrieved, conflicts, complete, ...drops });
    if (saved.length > 0 && page.command !== undefined) await this.#replay(call, page.command.id, body);
    tally.acknowledgedWrites += saved.length;
    tally.conflicts += conflicts.length;
    for (const [uuid, { vault }] of this.#items) {
      if (vault !== undefined && dropped.includes(vault)) this.#items.delete(uuid);
    }
    for (const seen of retrieved) this.#take(seen.uuid, seen);
    for (const { uuid, version } of saved) {
      const write = writes.find((each) => each.uuid === uuid);
      if (write !== undefined) this.#take(uuid, { ...write, version });
    }
    // The other side won: this device takes that state and forgets its own edit.
    for (const { stored } of conflicts) if (stored !== undefined) this.#take(stored.uuid, stored);
    this.#syncToken = page.sync_token;
    return page;
  }

  async #replay(call: number, command: string, body: object): Promise<void> {
    const { history, random } = this.#options;
    if (this.#lane === undefined || !random.chance(replays)) return;
    const { status, body: answer } = await this.#lane.repeat(command, body);
    if (status !== 200) {
      history.add({ event: 'failed', call, status, text: JSON.stringify(answer).slice(0, 300) });
      return;
    }
    const saved = (answer as SyncBody).saved_items;
    const reported = saved.map(({ uuid, updated_at_timestamp: version }) => ({ uuid, version }));
    history.add({ event: 'replayed', call, saved: reported });
  }

  /** While an item moves, a sync may show it in both places: an older state is ignored. */
  #take(uuid: string, { version, deleted, vault }: HeldItem): void {
    if ((this.#items.get(uuid)?.version ?? 0) > version) return;
    this.#items.set(uuid, { version, deleted, ...(vault !== undefined && { vault }) });
  }

  async #call(call: number, request: Request, writes: readonly Write[] = []): Promise<unknown> {
    const { history, client, accessToken, tally } = this.#options;
    let mayHaveEffect = false;
    let answer: Answer;
    try {
      const again = (reason: FailureReason) => {
        mayHaveEffect ||= reason !== 'not-reached';
        history.add({ event: 'repeated', call });
      };
      const { body } = request;
      const isNamed = this.#lane !== undefined && request.path === syncPath && body !== undefined;
      answer = await (isNamed
        ? this.#lane.sync(body, again)
        : client.call({ ...request, token: accessToken }, again));
    } catch (error) {
      if (error instanceof UnansweredError) history.add({ event: 'unanswered', call });
      throw error;
    }
    if (mayHaveEffect) tally.unknownWrites += writes.length;
    if (answer.status === 200) return answer.body;
    if (answer.status === 401) {
      history.add({ event: 'refused', call });
      throw new RefusedError('the session is not accepted');
    }
    const { status } = answer;
    history.add({ event: 'failed', call, status, text: JSON.stringify(answer.body).slice(0, 300) });
    throw new Error(`a sync was answered ${status}`);
  }
}

/** Vaults whose membership the previous token knew, and the next one does not know or knows as another. */
function departed(before: string | undefined, after: string): readonly string[] {
  const memberships = membershipsIn(after);
  return [...membershipsIn(before ?? '')]
    .filter(([vault, membership]) => memberships.get(vault) !== membership)
    .map(([vault]) => vault);
}

/** Everything that the server has for a session, in pages from a token. Without one, it leaves out tombstones. */
export async function readItems(
  { client, accessToken }: Pick<DeviceOptions, 'client' | 'accessToken'>,
  token: string | undefined,
): Promise<readonly Seen[]> {
  const all: Seen[] = [];
  let at: object = { sync_token: token };
  for (;;) {
    const body = { api: headerSessions, limit: pageItems, ...at };
    const answer = await client.call({ method: 'POST', path: '/v1/items', body, token: accessToken });
    const page = answer.body as SyncBody;
    all.push(...page.retrieved_items.map(seenOf));
    if (page.cursor_token === undefined) return all;
    at = { sync_token: page.sync_token, cursor_token: page.cursor_token };
  }
}
