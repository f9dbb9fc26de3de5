/**
 * Checks files. From its close on, each file is whole, in one place, for every permitted reader, until somebody asks
 * to delete it. After the answer to that it is gone. At the end the server's count for an account is the size of its
 * files, and never more than the account's quota.
 */

import type { Timed } from '../history.ts';
import type { OperationOf } from '../operations.ts';
import { type Call, walk } from './calls.ts';
import { effectOf, type Memberships } from './memberships.ts';
import type { Report } from './violation.ts';

type FileOperation = OperationOf<'upload' | 'read' | 'erase' | 'move'>;

interface File {
  readonly uuid: string;
  readonly bytes: number;
  readonly user: string;
  readonly collection: string;
  /** Positions: when it was closed, and between which positions it may be, or surely is, deleted. */
  closed: number;
  erasing: number;
  erased: number;
  /** From when on somebody may have moved it, and to which owner. */
  moving: number;
  readonly collections: Set<string>;
}

const never = Number.POSITIVE_INFINITY;

export function checkFiles(entries: readonly Timed[], memberships: Memberships, report: Report): void {
  new FileChecker(entries, memberships, report);
}

class FileChecker {
  readonly #report: Report;
  readonly #memberships: Memberships;
  readonly #end: number;
  readonly #files = new Map<string, File>();
  /** At the end, by owner. */
  readonly #usedBytes = new Map<string, number>();
  readonly #owners = new Map<string, string>();

  constructor(entries: readonly Timed[], memberships: Memberships, report: Report) {
    this.#report = report;
    this.#memberships = memberships;
    this.#end = entries.length;
    let limitBytes = never;
    for (const { at, entry, call } of walk(entries)) {
      if (entry.event === 'asked') this.#requested(entry.operation, entry.user, at);
      if (entry.event === 'counted') limitBytes = this.#counted(entry);
      if (entry.event === 'kept') this.#checkStored(entry.file, entry.collections, entry.whole);
      if (entry.event !== 'done' || call?.operation === undefined || !isFileOperation(call.operation))
        continue;
      this.#done(call, call.operation, { at, status: entry.status, whole: entry.whole, limitBytes });
    }
    const ends = entries.filter((entry) => entry.event === 'belongs');
    for (const { vaults } of ends) for (const { vault, owner } of vaults) this.#owners.set(vault, owner);
    for (const { user, bytes, limitBytes: limit } of ends) this.#atTheEnd(user, bytes, limit);
  }

  #requested(operation: FileOperation | { readonly does: string }, user: string, at: number): void {
    if (!isFileOperation(operation)) return;
    if (operation.does === 'upload') {
      const times = { closed: never, erasing: never, erased: never, moving: never };
      const { file: uuid, collection, bytes } = operation;
      this.#files.set(uuid, { uuid, bytes, user, collection, ...times, collections: new Set([collection]) });
    }
    const file = this.#files.get(operation.file);
    if (file === undefined) return;
    if (operation.does === 'erase') file.erasing = Math.min(file.erasing, at);
    if (operation.does !== 'move') return;
    file.moving = Math.min(file.moving, at);
    file.collections.add(operation.to);
  }

  #done(
    call: Call,
    operation: FileOperation,
    {
      at,
      status,
      whole,
      limitBytes,
    }: { at: number; status: number; whole: boolean | undefined; limitBytes: number },
  ): void {
    const file = this.#files.get(operation.file);
    if (file === undefined) return;
    const { by = never } = effectOf(call, at, status) ?? {};
    if (operation.does === 'erase') file.erased = Math.min(file.erased, by);
    if (operation.does === 'read') this.#read(call, operation, file, { at, status, whole });
    if (operation.does !== 'upload') return;
    file.closed = by;
    if (by === at) this.#checkRoom(file, limitBytes);
  }

  #read(
    { id, user, firstSent, lastSent }: Call,
    { collection }: OperationOf<'read'>,
    file: File,
    { at, status, whole }: { at: number; status: number; whole: boolean | undefined },
  ): void {
    const what = `${file.uuid} at ${collection}: call ${id}`;
    if (status === 200) {
      const isOwn = collection === user || this.#memberships.mayBelong(user, collection, lastSent, at);
      if (!isOwn) this.#report('file-leak', user, what);
      if (whole !== true) this.#report('file-torn', user, what);
      if (file.erased < firstSent) this.#report('file-back', user, what);
      return;
    }
    const isThere =
      file.closed < firstSent && Math.min(file.erasing, file.moving) > at && file.collection === collection;
    const mayRead = collection === user || this.#memberships.surelyBelongs(user, collection, firstSent, at);
    if (isThere && mayRead && status !== 403)
      this.#report('file-lost', user, `${what} was answered ${status}`);
  }

  /** Files that certainly existed together: of one owner, closed, and nobody had begun to move or delete them. */
  #checkRoom({ collection }: File, limitBytes: number): void {
    const owner = this.#ownerOf(collection);
    if (owner === undefined) return;
    let bytes = 0;
    for (const each of this.#files.values()) {
      const isThere = each.closed !== never && Math.min(each.erasing, each.moving) === never;
      if (isThere && this.#ownerOf(each.collection) === owner) bytes += each.bytes;
    }
    if (bytes > limitBytes) this.#report('over-quota', owner, `${bytes} bytes of ${limitBytes}`);
  }

  /** The account whose quota an owner counts toward all the time; undefined if that may change, or has changed. */
  #ownerOf(collection: string): string | undefined {
    const creator = this.#memberships.creatorOf(collection);
    if (creator === undefined)
      return this.#memberships.mayBeGone(collection, this.#end) ? undefined : collection;
    return this.#memberships.mayHaveEnded(collection, this.#end) ? undefined : creator;
  }

  #counted({ user, bytes, limitBytes }: { user: string; bytes: number; limitBytes: number }): number {
    if (
      bytes - this.#bytesOnTheMove(user) > limitBytes &&
      !this.#memberships.mayHaveInherited(user, this.#end)
    ) {
      this.#report('over-quota', user, `${bytes} bytes of ${limitBytes}, as the server counts`);
    }
    return limitBytes;
  }

  /**
   * What may count twice for a while. A file that moves within the quota of one owner counts at its target from the move on. It
   * counts at its source until that has heard of the move.
   */
  #bytesOnTheMove(owner: string): number {
    let bytes = 0;
    for (const file of this.#files.values()) {
      const own = [...file.collections].filter(
        (collection) => collection === owner || this.#memberships.creatorOf(collection) === owner,
      );
      if (own.length > 1) bytes += file.bytes;
    }
    return bytes;
  }

  #checkStored(uuid: string, collections: readonly string[], whole: boolean): void {
    const file = this.#files.get(uuid);
    if (file === undefined) return;
    for (const collection of collections)
      this.#usedBytes.set(collection, (this.#usedBytes.get(collection) ?? 0) + file.bytes);
    const where = `${uuid} in ${collections.length === 0 ? 'no place' : collections.join(' and ')}`;
    if (collections.length > 1) this.#report('file-doubled', file.user, where);
    if (collections.length > 0 && !whole) this.#report('file-torn', file.user, where);
    if (collections.length > 0 && file.erased !== never) this.#report('file-back', file.user, where);
    const isOwed = file.closed !== never && file.erasing === never;
    const areCollectionsThere = [...file.collections].every(
      (collection) => this.#ownerOf(collection) !== undefined,
    );
    if (collections.length === 0 && isOwed && areCollectionsThere)
      this.#report('file-lost', file.user, where);
  }

  #atTheEnd(user: string, bytes: number, limitBytes: number): void {
    let usedBytes = this.#usedBytes.get(user) ?? 0;
    for (const [vault, owner] of this.#owners)
      if (owner === user) usedBytes += this.#usedBytes.get(vault) ?? 0;
    if (bytes !== usedBytes)
      this.#report('miscounted', user, `${bytes} bytes are counted, and ${usedBytes} are there`);
    if (usedBytes > limitBytes && !this.#memberships.mayHaveInherited(user, this.#end)) {
      this.#report('over-quota', user, `${usedBytes} bytes of ${limitBytes} at the end`);
    }
  }
}

const fileOperations = new Set(['upload', 'read', 'erase', 'move']);
const isFileOperation = (operation: { readonly does: string }): operation is FileOperation =>
  fileOperations.has(operation.does);
