/**
 * What happened, as the clients saw it and in the order they saw it: the only thing the checker looks at. A call is
 * in here when it is sent, each time it is sent again, and when its answer has arrived, so that the order of two
 * entries is that of two moments outside the server.
 *
 * People who share vaults and keep files do so in acts: each is asked and answered like a call of a device.
 *
 * Every write carries a mark of its own, in columns that a tombstone keeps, so that each state a client is given
 * names the write it came from.
 */
import { appendFileSync } from 'node:fs';
import type { Act, Permission } from './acts.ts';

export interface Write {
  readonly uuid: string;
  readonly mark: string;
  /** The version it replaces; 0 for a new item. */
  readonly base: number;
  readonly deleted: boolean;
  /** The shared vault that it names. */
  readonly vault?: string;
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
  /** Text and columns are, to the letter, what that write was. */
  readonly whole: boolean;
  /** The shared vault that it lies in. */
  readonly vault?: string;
}

export interface Conflict {
  readonly type: string;
  readonly uuid: string;
  /** The server's side of it, where there is one. */
  readonly stored: Seen | undefined;
}

/** A vault as one of its members sees it. */
export interface Membership {
  readonly vault: string;
  readonly owner: string;
  readonly survivor: string | null;
  readonly members: readonly { readonly user: string; readonly permission: Permission }[];
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
  | (Of<'sent'> &
      ByDevice & {
        readonly writes: readonly Write[];
        readonly continues: boolean;
        /** It has a name, so that each attempt is answered as the first that came through. */
        readonly named?: boolean;
      })
  | (Of<'repeated'> & Call)
  | (Of<'answered'> &
      Call & {
        readonly saved: readonly { readonly uuid: string; readonly version: number }[];
        readonly retrieved: readonly Seen[];
        readonly conflicts: readonly Conflict[];
        /** No page follows. */
        readonly complete: boolean;
        /** Vaults that the device is no member of any more, or is again: it forgot what it had of them before it took this. */
        readonly dropped?: readonly string[];
      })
  /** What a named call that was answered is answered once more. */
  | (Of<'replayed'> &
      Call & { readonly saved: readonly { readonly uuid: string; readonly version: number }[] })
  | (Of<'asked'> & Call & { readonly user: string; readonly device: string; readonly act: Act })
  /** `vault`: that was made. `whole`: every byte was as it was written. */
  | (Of<'done'> & Call & { readonly status: number; readonly vault?: string; readonly whole?: boolean })
  /** A vault that a user has made in a call whose answer was lost: as its maker, he is the first to be shown it. */
  | (Of<'found'> & { readonly user: string; readonly vault: string })
  /** Told by a socket that somebody has saved something, by the clock of this history. */
  | (Of<'heard'> & { readonly user: string; readonly by: string; readonly savedAtMs: number })
  /** What the files of an account take, as the server says. */
  | (Of<'counted'> & { readonly user: string; readonly bytes: number; readonly limitBytes: number })
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
  /** Likewise: the vaults of a user, and what the server counts of files. */
  | (Of<'belongs'> & {
      readonly user: string;
      readonly vaults: readonly Membership[];
      readonly bytes: number;
      readonly limitBytes: number;
    })
  /** Where a file is found at the end. */
  | (Of<'kept'> & { readonly file: string; readonly homes: readonly string[]; readonly whole: boolean })
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

  /** A moment of the wall clock, which the servers share, by the clock of the entries. */
  momentOf(wallMs: number): number {
    return performance.now() - this.#startedMs - (Date.now() - wallMs);
  }

  /** Not added. */
  timed(entry: Entry): Timed {
    return { ...entry, atMs: Math.round(performance.now() - this.#startedMs) };
  }

  add(entry: Entry): void {
    const timed = this.timed(entry);
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
