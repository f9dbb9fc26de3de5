/**
 * What happened, as the clients saw it and in the order they saw it: the only thing the checker looks at. A call is
 * in here when it is sent, each time it is sent again, and when its answer has arrived, so that the order of two
 * entries is that of two moments outside the server.
 *
 * Every write carries a mark of its own, in columns that a tombstone keeps, so that each state a client is given
 * names the write it came from.
 */
import { appendFileSync } from 'node:fs';

export interface Write {
  readonly uuid: string;
  readonly mark: string;
  /** The version it replaces; 0 for a new item. */
  readonly base: number;
  readonly deleted: boolean;
}

/** An item as a client was given it. */
export interface Seen {
  readonly uuid: string;
  readonly version: number;
  /** Of the write this state says it is. */
  readonly mark: string | null;
  readonly deleted: boolean;
  /** Whose it is, as the server says. */
  readonly owner: string;
  /** Text and columns are, to the letter, what that write of that owner was. */
  readonly whole: boolean;
}

export interface Conflict {
  readonly type: string;
  readonly uuid: string;
  /** The server's side of it, where there is one. */
  readonly stored: Seen | undefined;
}

interface Of<E extends string> {
  readonly event: E;
}

interface Call {
  readonly call: number;
}

/** `device` is one signed-in life of a device: signing in again starts with nothing, under another name. */
interface ByDevice extends Call {
  readonly user: string;
  readonly device: string;
}

export type Entry =
  | (Of<'opened'> & { readonly user: string; readonly device: string })
  /** The call to end this session is sent; from now on it may be at an end. */
  | (Of<'closing'> & { readonly device: string })
  | (Of<'closed'> & { readonly device: string })
  /** `continues`: a further page of the same sync. */
  | (Of<'sent'> & ByDevice & { readonly writes: readonly Write[]; readonly continues: boolean })
  | (Of<'repeated'> & Call)
  | (Of<'answered'> &
      Call & {
        readonly saved: readonly { readonly uuid: string; readonly version: number }[];
        readonly retrieved: readonly Seen[];
        readonly conflicts: readonly Conflict[];
        /** No page follows. */
        readonly complete: boolean;
      })
  /** The session is not accepted (401). */
  | (Of<'refused'> & Call)
  /** Something no client should ever be told. */
  | (Of<'failed'> & Call & { readonly status: number; readonly text: string })
  /** The run ended before there was an answer. */
  | (Of<'unanswered'> & Call)
  /** `versions` is what the device said it has. */
  | (Of<'compared'> &
      ByDevice & {
        readonly mismatches: readonly { readonly uuid: string; readonly version: number }[];
      })
  /** What a new device is given at the end, when nobody writes any more: with tombstones, and without. */
  | (Of<'final'> & {
      readonly user: string;
      readonly everything: readonly Seen[];
      readonly live: readonly Seen[];
    })
  | (Of<'note'> & { readonly text: string });

export type Timed = Entry & { readonly atMs: number };

/** Keeps the entries, and writes them to a file as they come where one is named. */
export class History {
  readonly entries: Timed[] = [];
  readonly #file: string | undefined;
  readonly #startedMs = performance.now();
  #unwritten = '';
  #calls = 0;

  constructor(file?: string) {
    this.#file = file;
  }

  nextCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  add(entry: Entry): void {
    const timed = { ...entry, atMs: Math.round(performance.now() - this.#startedMs) };
    this.entries.push(timed);
    if (this.#file === undefined) return;
    this.#unwritten += `${JSON.stringify(timed)}\n`;
    if (this.#unwritten.length > 65_536) this.flush();
  }

  flush(): void {
    if (this.#file === undefined) return;
    appendFileSync(this.#file, this.#unwritten);
    this.#unwritten = '';
  }
}
