/**
 * Requests and their answers over one connection. One subscription takes all answers; the last part of their subject names the
 * request. One sweep serves all deadlines, because a timer for each request would cost more than the request.
 *
 * Every request ends: by its answer, by its deadline, or because the server says that its subject has no listener. It also ends
 * when its recipient or the connection is lost, even for a moment.
 */
import type { Clock } from '../../clock.ts';
import { MovedError, RetryableError } from '../../errors.ts';
import type { ClusterConnection } from './connection.ts';

const sweepMs = 100;
const lostRetryMs = 100;

interface PendingRequest {
  readonly subject: string;
  readonly deadlineMs: number;
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

export class Mux {
  readonly #connection: ClusterConnection;
  readonly #subject: string;
  readonly #clock: Clock;
  readonly #pending = new Map<string, PendingRequest>();
  #lastToken = 0;
  #isSweeping = false;

  /** Answers come to `subject`, to which no other process subscribes. */
  constructor(connection: ClusterConnection, subject: string, clock: Clock) {
    this.#connection = connection;
    this.#subject = `${subject}.`;
    this.#clock = clock;
    connection.subscribe(`${subject}.*`, {
      take: ({ subject: at, data }) => this.#pendingAt(at)?.resolve(data),
      nobody: (at) =>
        this.#pendingAt(at)?.reject(new MovedError('nobody serves this now', { reachedNobody: true })),
    });
  }

  /**
   * @throws UnavailableError, OverloadedError: nothing was sent; MovedError: there is no listener; RetryableError: the outcome
   * is unknown
   */
  async request(subject: string, bytes: Uint8Array, deadlineMs: number): Promise<Uint8Array> {
    if (!this.#connection.isConnected) await this.#connection.connectedSoon();
    return new Promise((resolve, reject) => {
      this.#lastToken += 1;
      const token = this.#lastToken.toString(36);
      this.#connection.publish(subject, bytes, this.#subject + token);
      this.#pending.set(token, { subject, deadlineMs, resolve, reject });
      if (!this.#isSweeping) this.#sweepLater();
    });
  }

  /** Call when the connection is lost: requests sent over it will not be answered. */
  lost(): void {
    this.#abandon(() => true, 'the connection was lost before the answer came');
  }

  /** The listener of these subjects has changed or was cut off, so requests or answers may be lost. */
  abandon(subjects: readonly string[]): void {
    const lost = new Set(subjects);
    this.#abandon(
      (subject) => lost.has(subject),
      'the process that was asked was replaced or cut off before the answer came',
    );
  }

  #abandon(isLost: (subject: string) => boolean, message: string): void {
    for (const [token, { subject, reject }] of this.#pending) {
      if (!isLost(subject)) continue;
      this.#pending.delete(token);
      reject(new RetryableError(message, { outcome: 'unknown', retryAfterMs: lostRetryMs }));
    }
  }

  /** Takes the request that waits for an answer at this subject. */
  #pendingAt(subject: string): PendingRequest | undefined {
    const token = subject.slice(this.#subject.length);
    const pending = this.#pending.get(token);
    this.#pending.delete(token);
    return pending;
  }

  #sweepLater(): void {
    this.#isSweeping = true;
    this.#clock.schedule(sweepMs, () => {
      this.#isSweeping = false;
      this.#sweep();
      if (this.#pending.size > 0) this.#sweepLater();
    });
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [token, { deadlineMs, reject }] of this.#pending) {
      if (deadlineMs > nowMs) continue;
      this.#pending.delete(token);
      reject(new RetryableError('no answer came in time', { outcome: 'unknown' }));
    }
  }
}
