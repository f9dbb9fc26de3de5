/**
 * Rechecks the permission of a running request. A session may be revoked, a member removed or a token end, without a message to
 * the gateway. Short requests are over before the first recheck.
 */
import type { Clock } from '../../runtime/clock.ts';
import { type HttpRefusal, refusals } from './refusal.ts';

/** Undefined while it is valid; otherwise why it has ended. */
export type AskPermission = () => Promise<HttpRefusal | undefined>;

const askEveryMs = 5_000;
/** A request also ends if the recheck fails for too long, because its owner may be unavailable for long. */
const unansweredMaxMs = 30_000;

export class PermissionRecheck {
  readonly #ask: AskPermission;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #ended: (refusal: HttpRefusal) => void;
  #askedMs: number;
  #answeredMs: number;
  #isAsking = false;

  constructor(ask: AskPermission, clock: Pick<Clock, 'monotonicMs'>, ended: (refusal: HttpRefusal) => void) {
    this.#ask = ask;
    this.#clock = clock;
    this.#ended = ended;
    this.#askedMs = clock.monotonicMs();
    this.#answeredMs = this.#askedMs;
  }

  /** Call about every second. */
  overdue(nowMs: number): void {
    if (nowMs - this.#answeredMs >= unansweredMaxMs) this.#ended(refusals.noAnswer);
    else if (!this.#isAsking && nowMs - this.#askedMs >= askEveryMs) void this.#askAgain(nowMs);
  }

  async #askAgain(nowMs: number): Promise<void> {
    this.#isAsking = true;
    this.#askedMs = nowMs;
    try {
      const refusal = await this.#ask();
      this.#answeredMs = this.#clock.monotonicMs();
      if (refusal !== undefined) this.#ended(refusal);
    } catch {
      // There was no answer: it asks again, until that has lasted too long.
    } finally {
      this.#isAsking = false;
    }
  }
}
