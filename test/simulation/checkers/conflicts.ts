/**
 * Every conflict has a reason, because for a client it means a copy of the note, or a new name for it. A user never
 * gets a conflict with the very version of their edit's base. They never get one with their own edit, sent again
 * because its answer was lost, or about a uuid that nobody else has.
 */
import type { Report } from './checker.ts';
import type { Durable } from './durable.ts';
import type { ReceivedItem, SentItem, SyncAnswer } from './replica.ts';

export interface SentEdit extends SentItem {
  readonly updated_at_timestamp: number;
}

interface Sending {
  readonly session: string;
  readonly base: number;
}

export class ConflictChecker {
  readonly #name: string;
  readonly #report: Report;
  readonly #durable: Durable;
  /** How each text, which no device writes twice, was first sent. */
  readonly #first = new Map<string, Sending>();

  constructor(name: string, report: Report, durable: Durable) {
    this.#name = name;
    this.#report = report;
    this.#durable = durable;
  }

  sends(session: string, items: readonly SentEdit[]): void {
    for (const { content, updated_at_timestamp: base } of items) {
      if (content !== null && !this.#first.has(content)) this.#first.set(content, { session, base });
    }
  }

  answered(collection: string, session: string, items: readonly SentEdit[], answer: SyncAnswer): void {
    for (const { type, server_item: stored, unsaved_item: unsaved } of answer.conflicts) {
      if (type === 'uuid_conflict' && unsaved !== undefined) this.#checkConflict(collection, unsaved.uuid);
      const sent = items.find(({ uuid }) => uuid === stored?.uuid);
      if (type === 'sync_conflict' && stored !== undefined && sent !== undefined) {
        this.#outdated(session, sent, stored);
      }
    }
  }

  #outdated(
    session: string,
    sent: SentEdit,
    { uuid, updated_at_timestamp: version, content }: ReceivedItem,
  ): void {
    if (version === sent.updated_at_timestamp) {
      this.#report(
        `${this.#name} was told of a conflict with the version of ${uuid} that its edit is based on`,
      );
    }
    if (sent.content === null || content !== sent.content) return;
    const first = this.#first.get(sent.content);
    if (first?.session !== session || first.base !== sent.updated_at_timestamp) return;
    this.#report(
      `${this.#name} was told of a conflict with its own edit of ${uuid}, which it only sent again`,
    );
  }

  #checkConflict(collection: string, uuid: string): void {
    for (const row of this.#durable.rows('item')) {
      if (row['uuid'] === uuid && row['collection'] !== collection) return;
    }
    this.#report(`${this.#name} was told that ${uuid} is another’s, and nobody else has it`);
  }
}
