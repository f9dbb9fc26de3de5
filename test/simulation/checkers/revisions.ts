/**
 * The history of items, as the commits show it.
 * - A revision says what its item said when it was made, wherever it is kept and however the item has changed since.
 * - A commit that overwrites an item, or lets it move away, keeps the revision that its row held. Only a deletion drops it,
 *   or a history that is full.
 */
import { type RevisionUsage, revisionUsageSlice } from '../../../actors/collection/revisions/usage.ts';
import type { Commit } from '../../../runtime/store/store.ts';
import { type AnyRow, keyText } from '../../../runtime/table.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

export class RevisionChecker implements Checker {
  readonly name = 'revisions';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #bytesMax: number;
  /** The rows of items as of the commit before. */
  readonly #items = new Map<string, AnyRow>();
  /** What the item said, by revision. */
  readonly #contents = new Map<string, unknown>();
  /** Keyed by collection, as of the commit before. */
  readonly #trimmed = new Map<string, number>();

  constructor(report: Report, durable: Durable, bytesMax: number) {
    this.#report = report;
    this.#durable = durable;
    this.#bytesMax = bytesMax;
  }

  committed(commit: Commit): void {
    const stored = new Set<string>();
    for (const write of commit.writes) {
      if (write.table.name === 'revision' && 'put' in write) stored.add(this.#checkRevision(write.put));
    }
    for (const write of commit.writes) {
      if (write.table.name !== 'item') continue;
      const key = keyText(write.table, 'put' in write ? write.put : write.remove);
      if ('remove' in write) this.#items.delete(key);
      else this.#overwritten(commit, this.#items.get(key), write.put, stored);
      if ('put' in write) this.#items.set(key, write.put);
    }
    this.#trimmed.set(commit.address.id, this.#usage(commit)?.trimmed ?? 0);
  }

  /** Copies have uuids of their own. The same holds for revisions that were made in the commit that keeps them. */
  #checkRevision(row: AnyRow): string {
    const uuid = String(row['uuid']);
    if (this.#contents.has(uuid)) this.#compare(uuid, row['content']);
    return uuid;
  }

  #overwritten(commit: Commit, before: AnyRow | undefined, after: AnyRow, stored: ReadonlySet<string>): void {
    const made = after['revision_uuid'];
    if (typeof made === 'string' && this.#contents.has(made)) this.#compare(made, after['content']);
    else if (typeof made === 'string') this.#contents.set(made, after['content']);
    const held = before?.['revision_uuid'];
    if (before === undefined || typeof held !== 'string' || held === made || stored.has(held)) return;
    const hasMoved = after['moved_to'] !== null && after['moved_to'] !== after['collection'];
    if (after['deleted'] === true && !hasMoved) return;
    if (this.#isFull(commit, Number(before['size']))) return;
    this.#report(`${held} of ${after['uuid']} was overwritten and not kept`);
  }

  #compare(uuid: string, content: unknown): void {
    const made = this.#contents.get(uuid);
    if (content !== made) this.#report(`${uuid} was ${made}, and says ${content}`);
  }

  /** There may have been no room at any turn of the commit. */
  #isFull(commit: Commit, size: number): boolean {
    const trimmed = this.#trimmed.get(commit.address.id) ?? 0;
    return (this.#usage(commit)?.endOffset ?? 0) - trimmed + size > this.#bytesMax;
  }

  #usage({ address }: Commit): RevisionUsage | undefined {
    return this.#durable.slice<RevisionUsage>(address, revisionUsageSlice.name);
  }
}
