/**
 * Decides when to notify the members of a vault that items changed. The first change is announced at once. Changes during that
 * notice, or in the pause after it, are announced together when the pause is over. So a vault of a thousand members costs its
 * gateways a bounded amount, however many of them save. No notice overtakes an earlier one of its vault.
 */
import type { VaultItemsChanged } from '../../actors/vault/contract.ts';
import type { Clock } from '../../runtime/clock.ts';

const pauseMs = 250;

interface Pause {
  pending: VaultItemsChanged | undefined;
  /** There is nothing to cancel while a notice is on its way. */
  cancel: () => void;
}

/** Calls `done` once the members have been notified, at once or later. */
type Notify = (vaultUuid: string, change: VaultItemsChanged, done: () => void) => void;

export class VaultNotices {
  readonly #clock: Clock;
  readonly #notify: Notify;
  readonly #pauses = new Map<string, Pause>();

  constructor(clock: Clock, notify: Notify) {
    this.#clock = clock;
    this.#notify = notify;
  }

  changed(vaultUuid: string, change: VaultItemsChanged): void {
    const pause = this.#pauses.get(vaultUuid);
    if (pause === undefined) this.#notifyAndPause(vaultUuid, change);
    else pause.pending = pause.pending === undefined ? change : merged(pause.pending, change);
  }

  stop(): void {
    for (const { cancel } of this.#pauses.values()) cancel();
    this.#pauses.clear();
  }

  #notifyAndPause(vaultUuid: string, change: VaultItemsChanged): void {
    const pause: Pause = { pending: undefined, cancel: () => {} };
    this.#pauses.set(vaultUuid, pause);
    this.#notify(vaultUuid, change, () => {
      pause.cancel = this.#clock.schedule(pauseMs, () => this.#pauseOver(vaultUuid));
    });
  }

  #pauseOver(vaultUuid: string): void {
    const pending = this.#pauses.get(vaultUuid)?.pending;
    this.#pauses.delete(vaultUuid);
    if (pending !== undefined) this.#notifyAndPause(vaultUuid, pending);
  }
}

/** The saver needs no notice, unless another user has saved, too. */
function merged(earlier: VaultItemsChanged, later: VaultItemsChanged): VaultItemsChanged {
  const timestamp = Math.max(earlier.timestamp, later.timestamp);
  if (earlier.by === later.by && earlier.session === later.session) return { ...later, timestamp };
  return { event: later.event, timestamp };
}
