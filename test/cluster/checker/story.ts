/** Histories told by hand: right ones, and ones with a planted wrong. */
import type { Conflict, Entry, Seen, Timed, Write } from '../history.ts';

export const ann = 'ann';
export const bob = 'bob';

export interface Told {
  readonly user?: string;
  readonly device?: string;
  readonly writes?: readonly Write[];
  readonly saved?: readonly (readonly [string, number])[];
  readonly retrieved?: readonly Seen[];
  readonly conflicts?: readonly Conflict[];
  readonly complete?: boolean;
  readonly continues?: boolean;
}

export function write(uuid: string, mark: string, base = 0, deleted = false): Write {
  return { uuid, mark, base, deleted };
}

export function seen(of: Write, version: number, other: Partial<Seen> = {}): Seen {
  const { uuid, mark, deleted } = of;
  return { uuid, mark, version, deleted, owner: ann, whole: true, ...other };
}

export class Story {
  readonly entries: Timed[] = [];
  #calls = 0;

  constructor(...devices: readonly string[]) {
    for (const device of devices) this.tell({ event: 'opened', user: ann, device });
  }

  tell(entry: Entry): this {
    this.entries.push({ ...entry, atMs: this.entries.length });
    return this;
  }

  send({ user = ann, device = 'phone', writes = [], continues = false }: Told): number {
    this.#calls += 1;
    this.tell({ event: 'sent', call: this.#calls, user, device, writes, continues });
    return this.#calls;
  }

  answer(call: number, { saved = [], retrieved = [], conflicts = [], complete = true }: Told = {}): this {
    return this.tell({
      event: 'answered',
      call,
      saved: saved.map(([uuid, version]) => ({ uuid, version })),
      retrieved,
      conflicts,
      complete,
    });
  }

  /** Sent and answered with nothing in between. */
  sync(told: Told): this {
    return this.answer(this.send(told), told);
  }

  /** What a new device is given at the end: all of it, of which the living come without tombstones too. */
  final(everything: readonly Seen[], live = everything.filter(({ deleted }) => !deleted)): this {
    return this.tell({ event: 'final', user: ann, everything, live });
  }
}
