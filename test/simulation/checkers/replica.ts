/**
 * A client's replica that knows nothing but the replies to its syncs. No change may be skipped or come twice, and no
 * token may go back. At rest it equals the server's state.
 */
import type { Report } from './checker.ts';
import type { Durable } from './durable.ts';
import { positionOf } from './sync-token.ts';

export interface ReceivedItem {
  readonly uuid: string;
  readonly updated_at_timestamp: number;
  readonly content_type: string | null;
  readonly deleted: boolean;
  readonly content?: string | null;
}

export interface SyncAnswer {
  readonly sync_token: string;
  readonly cursor_token?: string;
  readonly retrieved_items: readonly ReceivedItem[];
  readonly saved_items: readonly ReceivedItem[];
  readonly conflicts: readonly {
    readonly type: string;
    readonly server_item?: ReceivedItem;
    readonly unsaved_item?: SentItem;
  }[];
}

export interface SentItem {
  readonly uuid: string;
  readonly content: string | null;
}

interface Copy {
  readonly version: number;
  readonly content: string | null;
  readonly deleted: boolean;
}

/** A first sync sends keys and the like ahead of their turn, and sends them again in it. */
const givenOnceType = 'Note';

export class Replica {
  readonly #name: string;
  readonly #report: Report;
  readonly #copies = new Map<string, Copy>();
  readonly #retrieved = new Set<string>();
  #reached = { generation: '', position: 0 };

  /** A repeated command returns the changes since its first attempt, and so does the sync after it. */
  readonly #mayRepeat: boolean;

  constructor(name: string, report: Report, mayRepeat = false) {
    this.#name = name;
    this.#report = report;
    this.#mayRepeat = mayRepeat;
  }

  get(uuid: string): Copy | undefined {
    return this.#copies.get(uuid);
  }

  live(): readonly string[] {
    return [...this.#copies].filter(([, { deleted }]) => !deleted).map(([uuid]) => uuid);
  }

  applied(answer: SyncAnswer, sent: readonly SentItem[]): void {
    for (const item of answer.retrieved_items) this.#retrieve(item);
    for (const { server_item: item } of answer.conflicts)
      if (item !== undefined) this.#keep(item, item.content);
    for (const item of answer.saved_items) {
      const content = sent.find(({ uuid }) => uuid === item.uuid)?.content;
      this.#keep(item, item.deleted ? null : content);
    }
    this.#takeUp(answer);
  }

  #retrieve(item: ReceivedItem): void {
    const version = `${item.uuid}@${item.updated_at_timestamp}`;
    if (item.content_type === givenOnceType && !this.#mayRepeat && this.#retrieved.has(version)) {
      this.#report(`${this.#name} was given ${version} again`);
    }
    this.#retrieved.add(version);
    this.#keep(item, item.content);
  }

  #keep(
    { uuid, updated_at_timestamp: version, deleted }: ReceivedItem,
    content: string | null | undefined,
  ): void {
    const before = this.#copies.get(uuid);
    if (before !== undefined && before.version > version) return;
    this.#copies.set(uuid, { version, deleted, content: content ?? null });
  }

  #takeUp(answer: SyncAnswer): void {
    const to = positionOf(answer.sync_token);
    const { generation, position } = this.#reached;
    const isSame = generation === '' || generation === to.generation;
    if (!isSame || to.position < position) {
      this.#report(`the token of ${this.#name} went back from ${position} to ${to.position}`);
    }
    this.#reached = to;
  }

  /** Call after a last complete sync. */
  equals(durable: Durable, collection: string): void {
    const stored = new Map<string, Copy>();
    for (const row of durable.rows('item')) {
      if (row['collection'] !== collection || row['deleted'] === true) continue;
      const { uuid, updated_at_timestamp: version, content } = row;
      stored.set(String(uuid), {
        version: Number(version),
        content: content as string | null,
        deleted: false,
      });
    }
    for (const [uuid, { version, content }] of stored) {
      const mine = this.#copies.get(uuid);
      if (mine === undefined || mine.deleted) this.#report(`${this.#name} never got ${uuid}@${version}`);
      else if (mine.version !== version || mine.content !== content) {
        this.#report(`${this.#name} has ${uuid}@${mine.version} and the server @${version}`);
      }
    }
    for (const uuid of this.live()) if (!stored.has(uuid)) this.#report(`${this.#name} still has ${uuid}`);
  }
}
