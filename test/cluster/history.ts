/**
 * The events in the order in which the clients saw them: the checker's only input. A call appears when it is sent,
 * each time it is sent again, and when its answer arrives. So the order of two entries is that of two moments outside
 * the server.
 *
 * People who share vaults and keep files do so in operations: each is asked and answered like a call of a device.
 *
 * Every write carries a unique nonce, in columns that a tombstone keeps. So each state that a client receives names
 * its write.
 */
import { appendFileSync } from 'node:fs';
import type { Operation, Permission } from './operations.ts';

export interface Write {
  readonly uuid: string;
  readonly nonce: string;
  /** The version that it replaces; 0 for a new item. */
  readonly base: number;
  readonly deleted: boolean;
  /** The shared vault that it names. */
  readonly vault?: string;
}

/** An item as a client received it. */
export interface Seen {
  readonly uuid: string;
  readonly version: number;
  /** The nonce of the write that this state claims. */
  readonly nonce: string | null;
  readonly deleted: boolean;
  /** Its owner, according to the server. */
  readonly owner: string;
  /** Text and columns are exactly those of that write. */
  readonly whole: boolean;
  /** The shared vault that contains it. */
  readonly vault?: string;
}

export interface Conflict {
  readonly type: string;
  readonly uuid: string;
  /** The server's state of it, if there is one. */
  readonly stored: Seen | undefined;
}

/** A vault from the view of one of its members. */
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
  /** The call to end this session is sent; from now on it may be over. */
  | (Of<'closing'> & { readonly device: string })
  | (Of<'closed'> & { readonly device: string })
  /** `continues`: a further page of the same sync. */
  | (Of<'sent'> &
      ByDevice & {
        readonly writes: readonly Write[];
        readonly continues: boolean;
        /** It has a name, so that each attempt gets the answer of the first that came through. */
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
        /**
         * Vaults in which the device is no longer a member, or is one again. It forgot their contents before it
         * applied this.
         */
        readonly dropped?: readonly string[];
      })
  /** The answer to a repeat of an answered named call. */
  | (Of<'replayed'> &
      Call & { readonly saved: readonly { readonly uuid: string; readonly version: number }[] })
  | (Of<'asked'> & Call & { readonly user: string; readonly device: string; readonly operation: Operation })
  /** `vault`: the new vault. `whole`: every byte was as written. */
  | (Of<'done'> & Call & { readonly status: number; readonly vault?: string; readonly whole?: boolean })
  /** A vault whose creating call got no answer: its maker is the first user who sees it. */
  | (Of<'found'> & { readonly user: string; readonly vault: string })
  /** A socket reported a save, at this time by the clock of this history. */
  | (Of<'heard'> & { readonly user: string; readonly by: string; readonly savedAtMs: number })
  /** The size of an account's files, according to the server. */
  | (Of<'counted'> & { readonly user: string; readonly bytes: number; readonly limitBytes: number })
  /** The server does not accept the session (401). */
  | (Of<'refused'> & Call)
  /** An answer that no client should ever get. */
  | (Of<'failed'> & Call & { readonly status: number; readonly text: string })
  /** The run ended before there was an answer. */
  | (Of<'unanswered'> & Call)
  /** `versions` are the versions that the device reported. */
  | (Of<'compared'> &
      ByDevice & {
        readonly mismatches: readonly { readonly uuid: string; readonly version: number }[];
      })
  /** What a new device receives at the end, when nobody writes any more: with tombstones, and without. */
  | (Of<'final'> & {
      readonly user: string;
      readonly everything: readonly Seen[];
      readonly live: readonly Seen[];
    })
  /** The same for a user's vaults, and the server's count of files. */
  | (Of<'belongs'> & {
      readonly user: string;
      readonly vaults: readonly Membership[];
      readonly bytes: number;
      readonly limitBytes: number;
    })
  /** The owner of a file at the end. */
  | (Of<'kept'> & { readonly file: string; readonly collections: readonly string[]; readonly whole: boolean })
  /** The database cannot be reached from this node. It names another one as the host of these users. */
  | (Of<'cut-off'> & { readonly node: string; readonly others: readonly string[] })
  | (Of<'healed'> & { readonly node: string })
  /** A bystander's sync through another node. It was sent once, and ended now; status 0: without an answer. */
  | (Of<'synced'> & { readonly user: string; readonly status: number; readonly tookMs: number })
  | (Of<'note'> & { readonly text: string });

export type Timed = Entry & { readonly atMs: number };

/** Keeps the entries, and writes them to a file as they come if one is named. */
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

  /** Converts a moment of the wall clock, which the servers share, to the clock of the entries. */
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
