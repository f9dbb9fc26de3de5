/** Why a backup or a restore cannot go on. The message says what to do about it. */
export type BackupFailure =
  /** The target or the database does not answer now, or has no room. */
  | 'unavailable'
  /** The request cannot be carried out in this form. */
  | 'refused'
  /** Something in the target is missing, or is not what the backup has written. */
  | 'damaged';

export class BackupError extends Error {
  readonly failure: BackupFailure;

  constructor(failure: BackupFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'BackupError';
    this.failure = failure;
  }

  static readonly unavailable = (message: string, cause?: unknown) =>
    new BackupError('unavailable', message, cause);
  static readonly refused = (message: string, cause?: unknown) => new BackupError('refused', message, cause);
  static readonly damaged = (message: string) => new BackupError('damaged', message);
}
