/**
 * What each sweep reads. A long backlog costs no more than the rows delivered from it, and delays no other shard.
 *
 *   whole pass     all shards, up to the share of each
 *   further pass   only shards that filled their share, a few in turn: the rest of their rows follows at once, and the fewer
 *                  shards have more rows, the larger is the share of each
 *
 * A pass begins at the low watermark, before which nothing was left. Otherwise it would go through rows that were removed
 * there lately, which a database may keep for a while. The watermark is a hint. A commit that took long, or a clock that is behind,
 * may write rows below it. So the watermark stays well behind the time and moves down to rows known to be below it. Now and then a
 * pass begins at the beginning.
 */
import type { SweepRead } from '../store/store.ts';

/** Longer than any commit takes, and more than clocks differ. */
const behindMs = 120_000;
const fromBeginningMs = 60_000;
/** The least rows of a shard that a pass reads: in a whole pass, and in a further one. */
const wholeShareMin = 2;
const shareMin = 8;

export interface Pass extends SweepRead {
  readonly isWhole: boolean;
}

export interface DueShard {
  readonly shard: number;
  readonly timeMs: number;
}

export class Passes {
  readonly #wholeEveryMs: number;
  #watermarkMs = 0;
  /** The earliest due time reported since the last pass began, which may not have seen it. */
  #earliestArmedMs = Number.POSITIVE_INFINITY;
  #fromBeginningAtMs = Number.NEGATIVE_INFINITY;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  /** Shards that seem to have more rows than were read, in the order of the next passes. */
  #unread: readonly number[] = [];

  constructor(wholeEveryMs: number) {
    this.#wholeEveryMs = wholeEveryMs;
  }

  /** The last pass has not read everything. */
  get hasMore(): boolean {
    return this.#unread.length > 0;
  }

  /** Something may be due in any shard from this time on. */
  from(timeMs: number): void {
    this.#earliestArmedMs = Math.min(this.#earliestArmedMs, timeMs);
    if (timeMs > this.#watermarkMs) return;
    this.#watermarkMs = timeMs;
    this.#wholeAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The next pass over these shards. `extra`: how many rows more to read, because that many cannot be tried now. */
  next({
    owned,
    nowMs,
    monotonicMs,
    capacity,
    extra,
  }: {
    readonly owned: readonly number[];
    readonly nowMs: number;
    readonly monotonicMs: number;
    readonly capacity: number;
    readonly extra: number;
  }): Pass {
    this.#earliestArmedMs = Number.POSITIVE_INFINITY;
    const mine = new Set(owned);
    const unread = this.#unread.filter((shard) => mine.has(shard));
    const isWhole = unread.length === 0 || monotonicMs - this.#wholeAtMs >= this.#wholeEveryMs;
    const shards = isWhole ? owned : unread.slice(0, Math.ceil(capacity / shareMin));
    if (isWhole) this.#wholeAtMs = monotonicMs;
    if (monotonicMs - this.#fromBeginningAtMs >= fromBeginningMs) {
      this.#fromBeginningAtMs = monotonicMs;
      this.#watermarkMs = 0;
    }
    const shareOfCapacity = Math.ceil(capacity / Math.max(1, shards.length));
    const share = Math.max(isWhole ? wholeShareMin : shareMin, shareOfCapacity) + extra;
    return { shards, fromMs: this.#watermarkMs, untilMs: nowMs, limit: capacity + extra, share, isWhole };
  }

  /** Takes in the rows that a pass has found. Returns true if nothing else is due. */
  found(pass: Pass, rows: readonly DueShard[]): boolean {
    const counts = new Map<number, number>();
    for (const { shard } of rows) counts.set(shard, (counts.get(shard) ?? 0) + 1);
    const isCut = rows.length >= pass.limit;
    const full = pass.shards.filter((shard) => isCut || (counts.get(shard) ?? 0) >= pass.share);
    const covered = new Set(pass.shards);
    const others = pass.isWhole ? [] : this.#unread.filter((shard) => !covered.has(shard));
    this.#unread = [...others, ...full];
    if (this.#unread.length > 0 || !pass.isWhole) return false;
    const oldestMs = rows.reduce((oldest, { timeMs }) => Math.min(oldest, timeMs), this.#earliestArmedMs);
    this.#watermarkMs = Math.max(0, Math.min(oldestMs, pass.untilMs - behindMs));
    return true;
  }
}
