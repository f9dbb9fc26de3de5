/**
 * When the members of a vault are told that items changed: of the first change at once, of those that come in the pause
 * after it together, when it is over. So what a vault of a thousand members costs its gateways is bounded, however many
 * of them save.
 */
import type { VaultItemsChanged } from '../../actors/vault/contract.ts';
import type { Clock } from '../../runtime/clock.ts';

const pauseMs = 250;

interface Pause {
  pending: VaultItemsChanged | undefined;
  readonly cancel: () => void;
}

export class VaultNotices {
  readonly #clock: Clock;
  readonly #tell: (vaultUuid: string, change: VaultItemsChanged) => void;
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: Clock, tell: (vaultUuid: string, change: VaultItemsChanged) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  changed(vaultUuid: string, change: VaultItemsChanged): void {
    const pause = this.#pauses.get(vaultUuid);
    if (pause === undefined) this.#tellAndPause(vaultUuid, change);
    else pause.pending = pause.pending === undefined ? change : together(pause.pending, change);
  }

  stop(): void {
    for (const { cancel } of this.#pauses.values()) cancel();
    this.#pauses.clear();
  }

  #tellAndPause(vaultUuid: string, change: VaultItemsChanged): void {
    const cancel = this.#clock.schedule(pauseMs, () => this.#pauseOver(vaultUuid));
    this.#pauses.set(vaultUuid, { pending: undefined, cancel });
    this.#tell(vaultUuid, change);
  }

  #pauseOver(vaultUuid: string): void {
    const pending = this.#pauses.get(vaultUuid)?.pending;
    this.#pauses.delete(vaultUuid);
    if (pending !== undefined) this.#tellAndPause(vaultUuid, pending);
  }
}

/** Whoever saved need not be told, unless somebody else did, too. */
function together(earlier: VaultItemsChanged, later: VaultItemsChanged): VaultItemsChanged {
  const timestamp = Math.max(earlier.timestamp, later.timestamp);
  if (earlier.by === later.by && earlier.session === later.session) return { ...later, timestamp };
  return { event: later.event, timestamp };
}
