/**
 * Decides which streamed bodies to read at the moment. Holding a connection back does not stop it at once. The
 * library still hands over all that the system had received by then. For a fast client that is a chunk of a file and
 * more. So streams are read while what their user holds of memory, and what all of them hold, is below a watermark:
 *
 *     reading  --one brings more than the watermark-->  waiting, all that share the watermark
 *     waiting  --below the watermark, in turn, one at a time-->  reading
 *
 * - Between two that begin to be read the loop turns once, so that the bytes of the first count before the second. At most one
 *   buffer of the system comes on top of a watermark, except for requests that arrive in the same turn of the loop.
 * - A slow client holds nothing, because its waiting reader has taken everything. So it delays no other.
 * - A connection whose buffer has grown brings all of its next body with the head, before anything can hold it back.
 *   So when a user has many streams at once the connections end with their replies: new ones begin with a small
 *   buffer.
 * - A stream whose own queue is full is not read in either state.
 */
import type { BodyAccount } from './body.ts';
import { Counts } from './counts.ts';

/** A stream that reads when the scheduler allows it. Called in turns, starting with `pause`. */
export interface UploadConnection {
  pause(): void;
  resume(): void;
}

export interface UploadWatermarks {
  readonly userBytes: number;
  readonly allBytes: number;
}

/** How many connections of a user are kept for the next body. */
const rememberedMax = 4;

export class UploadScheduler {
  readonly #watermarks: UploadWatermarks;
  readonly #later: (work: () => void) => void;
  readonly #bytesOfUsers = new Counts();
  /** How many are open. */
  readonly #streamsOfUsers = new Counts();
  #bytes = 0;
  readonly #reading = new Set<ScheduledUpload>();
  /** In the order in which they resume. */
  readonly #waiting = new Set<ScheduledUpload>();
  #isTurnDue = false;

  /** `later` runs its argument when the loop has turned. */
  constructor(watermarks: UploadWatermarks, later: (work: () => void) => void = setImmediate) {
    this.#watermarks = watermarks;
    this.#later = later;
  }

  /** The account for the memory of the stream. */
  open(user: string, account: BodyAccount, connection: UploadConnection): ScheduledUpload {
    const upload = new ScheduledUpload(this, user, account, connection);
    this.#streamsOfUsers.add(user, 1);
    this.enter(upload);
    return upload;
  }

  /** The stream wants to be read. */
  enter(upload: ScheduledUpload): void {
    if (this.#waiting.size === 0 && !this.#isFull(upload.user)) {
      this.#read(upload);
      return;
    }
    this.#wait(upload);
    this.#turn();
  }

  leave(upload: ScheduledUpload): void {
    this.#reading.delete(upload);
    this.#waiting.delete(upload);
  }

  close(upload: ScheduledUpload): void {
    this.leave(upload);
    this.#streamsOfUsers.add(upload.user, -1);
  }

  isCrowdedBy(user: string): boolean {
    return this.#streamsOfUsers.of(user) > rememberedMax;
  }

  moved(user: string, bytes: number): void {
    this.#bytes += bytes;
    this.#bytesOfUsers.add(user, bytes);
    if (bytes < 0) this.#turn();
    else if (this.#isFull(user)) this.#stop();
  }

  #isFull(user: string): boolean {
    const { userBytes, allBytes } = this.#watermarks;
    return this.#bytes >= allBytes || this.#bytesOfUsers.of(user) >= userBytes;
  }

  #stop(): void {
    for (const upload of this.#reading) {
      if (!this.#isFull(upload.user)) continue;
      this.#reading.delete(upload);
      this.#wait(upload);
    }
  }

  #read(upload: ScheduledUpload): void {
    this.#reading.add(upload);
    upload.resume();
  }

  #wait(upload: ScheduledUpload): void {
    this.#waiting.add(upload);
    upload.pause();
  }

  #turn(): void {
    if (this.#isTurnDue || this.#next() === undefined) return;
    this.#isTurnDue = true;
    this.#later(() => {
      this.#isTurnDue = false;
      const next = this.#next();
      if (next === undefined) return;
      this.#waiting.delete(next);
      this.#read(next);
      this.#turn();
    });
  }

  #next(): ScheduledUpload | undefined {
    for (const upload of this.#waiting) {
      if (!this.#isFull(upload.user)) return upload;
    }
    return undefined;
  }
}

/** One stream's entry in the upload scheduler. */
export class ScheduledUpload implements BodyAccount {
  readonly #uploadScheduler: UploadScheduler;
  readonly user: string;
  readonly #account: BodyAccount;
  readonly #connection: UploadConnection;
  #isPaused = false;
  #isHeld = false;
  #isClosed = false;

  constructor(
    uploadScheduler: UploadScheduler,
    user: string,
    account: BodyAccount,
    connection: UploadConnection,
  ) {
    this.#uploadScheduler = uploadScheduler;
    this.user = user;
    this.#account = account;
    this.#connection = connection;
  }

  /** Whether its user has so many streams that the connection should close. */
  get isOneOfMany(): boolean {
    return this.#uploadScheduler.isCrowdedBy(this.user);
  }

  take(bytes: number): boolean {
    if (!this.#account.take(bytes)) return false;
    this.#uploadScheduler.moved(this.user, bytes);
    return true;
  }

  release(bytes: number): void {
    if (bytes === 0) return;
    this.#account.release(bytes);
    this.#uploadScheduler.moved(this.user, -bytes);
  }

  /** The upload is not read until `unhold` is called. */
  hold(): void {
    if (this.#isClosed) return;
    this.#isHeld = true;
    this.#uploadScheduler.leave(this);
    this.pause();
  }

  unhold(): void {
    if (!this.#isHeld || this.#isClosed) return;
    this.#isHeld = false;
    this.#uploadScheduler.enter(this);
  }

  /** Nobody reads the stream any more; what still arrives is discarded. */
  close(): void {
    if (!this.#isClosed) this.#uploadScheduler.close(this);
    this.#isClosed = true;
    this.resume();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#connection.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#connection.resume();
  }
}
