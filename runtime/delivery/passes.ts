/**
 * What each sweep reads, so that a long backlog costs no more than what is delivered of it, and keeps nobody waiting.
 *
 *   whole pass     all shards, of each no more than its share
 *   further pass   only those that had their share full, a few in turn: what was left there follows at once, and the more
 *                  of it in a sweep the fewer shards have any
 *
 * A pass begins at the low watermark, before which nothing was left: else it would go through whatever was removed there
 * lately, which a database may keep for a while. The watermark is a hint. Rows may come below it, written by a commit that
 * took long or by a clock that is behind, so it stays well behind the time, gives way to what is known to be below it,
 * and every now and then a pass begins at the beginning.
 */
import type { SweepRead } from '../store/store.ts';

/** Longer than any commit takes, and than clocks differ. */
const behindMs = 120_000;
const fromBeginningMs = 60_000;
/** So many rows of a shard are read at least, in a whole pass and in another. */
const wholeShareMin = 2;
const shareMin = 8;

export interface Pass extends SweepRead {
  readonly isWhole: boolean;
}

export interface Found {
  readonly shard: number;
  readonly timeMs: number;
}

export class Passes {
  readonly #wholeEveryMs: number;
  #watermarkMs = 0;
  /** The earliest that was said of the time since the last pass began, which may not have seen it. */
  #saidMs = Number.POSITIVE_INFINITY;
  #fromBeginningAtMs = Number.NEGATIVE_INFINITY;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  /** Shards that seem to have more than was read, in the order to pass at them. */
  #unread: readonly number[] = [];

  constructor(wholeEveryMs: number) {
    this.#wholeEveryMs = wholeEveryMs;
  }

  /** The last pass has not read everything. */
  get hasMore(): boolean {
    return this.#unread.length > 0;
  }

  /** Something may be due from this time on, in any shard. */
  from(timeMs: number): void {
    this.#saidMs = Math.min(this.#saidMs, timeMs);
    if (timeMs > this.#watermarkMs) return;
    this.#watermarkMs = timeMs;
    this.#wholeAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The next pass, of these shards. `extra`: rows that are passed over wherever they are. */
  next({
    owned,
    nowMs,
    monotonicMs,
    room,
    extra,
  }: {
    readonly owned: readonly number[];
    readonly nowMs: number;
    readonly monotonicMs: number;
    readonly room: number;
    readonly extra: number;
  }): Pass {
    this.#saidMs = Number.POSITIVE_INFINITY;
    const mine = new Set(owned);
    const unread = this.#unread.filter((shard) => mine.has(shard));
    const isWhole = unread.length === 0 || monotonicMs - this.#wholeAtMs >= this.#wholeEveryMs;
    const shards = isWhole ? owned : unread.slice(0, Math.ceil(room / shareMin));
    if (isWhole) this.#wholeAtMs = monotonicMs;
    if (monotonicMs - this.#fromBeginningAtMs >= fromBeginningMs) {
      this.#fromBeginningAtMs = monotonicMs;
      this.#watermarkMs = 0;
    }
    const shareOfRoom = Math.ceil(room / Math.max(1, shards.length));
    const share = Math.max(isWhole ? wholeShareMin : shareMin, shareOfRoom) + extra;
    return { shards, fromMs: this.#watermarkMs, untilMs: nowMs, limit: room + extra, share, isWhole };
  }

  /** What a pass has found. Gives whether there is nothing else. */
  found(pass: Pass, rows: readonly Found[]): boolean {
    const counts = new Map<number, number>();
    for (const { shard } of rows) counts.set(shard, (counts.get(shard) ?? 0) + 1);
    const isCut = rows.length >= pass.limit;
    const full = pass.shards.filter((shard) => isCut || (counts.get(shard) ?? 0) >= pass.share);
    const covered = new Set(pass.shards);
    const others = pass.isWhole ? [] : this.#unread.filter((shard) => !covered.has(shard));
    this.#unread = [...others, ...full];
    if (this.#unread.length > 0 || !pass.isWhole) return false;
    const oldestMs = rows.reduce((oldest, { timeMs }) => Math.min(oldest, timeMs), this.#saidMs);
    this.#watermarkMs = Math.max(0, Math.min(oldestMs, pass.untilMs - behindMs));
    return true;
  }
}
