/**
 * Virtual time. Everything that takes time in the simulator is an event here. Between two events every promise that
 * needs no time settles. Real time plays no part, so a seed always gives the same run.
 */
import { setImmediate } from 'node:timers';

interface Event {
  readonly atMs: number;
  readonly order: number;
  fire: (() => void) | undefined;
}

export class SimulatedTime {
  #nowMs = 0;
  #order = 0;
  readonly #heap: Event[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Fires once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, fire: () => void): () => void {
    this.#order += 1;
    const event: Event = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, fire };
    this.#push(event);
    return () => {
      event.fire = undefined;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Lets time pass until `done`, at most up to `untilMs`. */
  async run(untilMs: number, done: () => boolean): Promise<void> {
    await drained();
    while (!done()) {
      const next = this.#pop();
      if (next === undefined) break;
      if (next.atMs > untilMs) {
        this.#push(next);
        break;
      }
      if (next.fire === undefined) continue;
      this.#nowMs = next.atMs;
      next.fire();
      await drained();
    }
    if (!done()) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let child = heap.length;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(event, above)) break;
      heap[child] = above;
      child = parent;
    }
    heap[child] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const [top] = heap;
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const smaller = this.#smaller(left, left + 1);
      const below = heap[smaller];
      if (below === undefined || !isBefore(below, last)) break;
      heap[parent] = below;
      parent = smaller;
    }
    heap[parent] = last;
    return top;
  }

  #smaller(left: number, right: number): number {
    const a = this.#heap[left];
    const b = this.#heap[right];
    return a !== undefined && b !== undefined && isBefore(b, a) ? right : left;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** All microtasks run before the event loop continues. */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
