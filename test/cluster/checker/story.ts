/** Histories written by hand: correct ones, and ones with a planted error. */

import type { Conflict, Entry, Membership, Seen, Timed, Write } from '../history.ts';
import type { Operation, Permission } from '../operations.ts';

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
  readonly dropped?: readonly string[];
}

/** The outcome of an operation. */
export interface Went {
  readonly user?: string;
  readonly status?: number;
  readonly whole?: boolean;
  /** The uuid of the new vault. */
  readonly vault?: string;
  /** Sent again, because its first answer was lost. */
  readonly isRepeated?: boolean;
}

export function write(uuid: string, nonce: string, base = 0, deleted = false): Write {
  return { uuid, nonce, base, deleted };
}

export function seen(of: Write, version: number, other: Partial<Seen> = {}): Seen {
  const { uuid, nonce, deleted } = of;
  return { uuid, nonce, version, deleted, owner: ann, whole: true, ...other };
}

export class Story {
  readonly entries: Timed[] = [];
  #calls = 0;
  #passedMs = 0;

  constructor(...devices: readonly string[]) {
    for (const device of devices) this.tell({ event: 'opened', user: ann, device });
  }

  tell(entry: Entry): this {
    this.entries.push({ ...entry, atMs: this.#passedMs + this.entries.length });
    return this;
  }

  pass(ms: number): this {
    this.#passedMs += ms;
    return this;
  }

  send({ user = ann, device = 'phone', writes = [], continues = false }: Told): number {
    this.#calls += 1;
    this.tell({ event: 'sent', call: this.#calls, user, device, writes, continues });
    return this.#calls;
  }

  answer(call: number, exchange: Told = {}): this {
    const { saved = [], retrieved = [], conflicts = [], complete = true, dropped = [] } = exchange;
    return this.tell({
      event: 'answered',
      call,
      saved: saved.map(([uuid, version]) => ({ uuid, version })),
      retrieved,
      conflicts,
      complete,
      dropped,
    });
  }

  /** Sent and answered with nothing in between. */
  sync(exchange: Told): this {
    return this.answer(this.send(exchange), exchange);
  }

  /** Everything that a new device receives at the end; the living items come without tombstones too. */
  final(
    everything: readonly Seen[],
    live = everything.filter(({ deleted }) => !deleted),
    user: string = ann,
  ): this {
    return this.tell({ event: 'final', user, everything, live });
  }

  ask(operation: Operation, user: string = ann): number {
    this.#calls += 1;
    this.tell({ event: 'asked', call: this.#calls, user, device: `${user}'s`, operation });
    return this.#calls;
  }

  /** Asked and answered with nothing in between. */
  operation(
    operation: Operation,
    { user, status = 200, whole, vault: made = vault, isRepeated = false }: Went = {},
  ): this {
    const call = this.ask(operation, user);
    if (isRepeated) this.tell({ event: 'repeated', call });
    const more = {
      ...(operation.does === 'make-vault' && { vault: made }),
      ...(whole !== undefined && { whole }),
    };
    return this.tell({ event: 'done', call, status, ...more });
  }

  /** Ann makes the vault and admits Bob. */
  shared(permission: Permission = 'write'): this {
    return this.operation({ does: 'make-vault' }).operation(accept(permission), { user: bob });
  }

  /** A user's vaults at the end. */
  belongs(user: string, vaults: readonly Membership[], bytes = 0, limitBytes = 1_000): this {
    return this.tell({ event: 'belongs', user, vaults, bytes, limitBytes });
  }
}

export const vault = 'vault';
export const accept = (permission: Permission = 'write', invite = 'first', where = vault): Operation => ({
  does: 'accept',
  vault: where,
  invite,
  permission,
});
export const removeBob: Operation = { does: 'remove', vault, whom: bob };

export const ofAnnAndBob: Membership = {
  vault,
  owner: ann,
  survivor: null,
  members: [
    { user: ann, permission: 'admin' },
    { user: bob, permission: 'write' },
  ],
};
