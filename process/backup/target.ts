/**
 * Where backups lie: the port. `folder-target.ts` and `s3-target.ts` are the adapters.
 *
 * - An object appears whole and durable, or not at all. A crash leaves at most drafts, which no listing shows.
 * - Every object fits into memory: the format cuts what is larger.
 * - Nobody but the backups of one server writes to a target.
 */
import { BackupError } from './error.ts';

export interface StoredObject {
  readonly name: string;
  readonly bytes: number;
}

export interface BackupTarget {
  /** @throws BackupError `unavailable` */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @throws BackupError `damaged` if there is no such object, `unavailable` */
  get(name: string): Promise<Buffer>;
  /** Those whose names begin with `prefix`, which ends with a slash. @throws BackupError `unavailable` */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** An object that is not there needs no removal. @throws BackupError `unavailable` */
  remove(names: readonly string[]): Promise<void>;
  close(): void;
}

/** Letters, digits, dots and dashes between slashes, so that no name leaves the folder. */
const nameForm = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*\/?$/;

/** @throws BackupError `damaged` */
export function checkObjectName(name: string): string {
  if (nameForm.test(name)) return name;
  throw BackupError.damaged('The backup names an object that cannot be one of its own.');
}
