/**
 * The permission by which a request goes on, asked for again while it does: a session is revoked, a member removed, a token
 * ends, and nobody tells the gateway. Short requests are over before they are asked about.
 */
import type { Clock } from '../../runtime/clock.ts';
import { type Refusal, refusals } from './refusal.ts';

/** Undefined while it stands; else why it has ended. */
export type AskPermission = () => Promise<Refusal | undefined>;

const askEveryMs = 5_000;
/** What cannot be asked about ends too: its owner may be away for long. */
const unansweredMaxMs = 30_000;

export class Permission {
  readonly #ask: AskPermission;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #ended: (refusal: Refusal) => void;
  #askedMs: number;
  #answeredMs: number;
  #isAsking = false;

  constructor(ask: AskPermission, clock: Pick<Clock, 'monotonicMs'>, ended: (refusal: Refusal) => void) {
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
      // No answer: it is asked again, until that has lasted too long.
    } finally {
      this.#isAsking = false;
    }
  }
}
