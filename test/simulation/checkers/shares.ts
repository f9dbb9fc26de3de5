/**
 * Exactly one opener gets a one-time share, nobody gets a revoked one, and no opening is answered before its commit.
 */
import type { AskCall } from '../../../runtime/transport/transport.ts';
import type { CallOutcome } from '../gateway.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

interface KnownShare {
  /** Calls that received it. */
  readonly openedBy: Set<string>;
  isRevoked: boolean;
  /** Somebody tried to revoke it, or nobody knows whether an opener received it. */
  mayBeOver: boolean;
}

export class ShareChecker implements Checker {
  readonly name = 'shares';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #shares = new Map<string, KnownShare>();

  constructor(report: Report, durable: Durable) {
    this.#report = report;
    this.#durable = durable;
  }

  mayBeOver(id: string): void {
    this.#of(id).mayBeOver = true;
  }

  revoked(id: string): void {
    this.#of(id).isRevoked = true;
  }

  isRevoked(id: string): boolean {
    return this.#of(id).isRevoked;
  }

  /** A call that began while the share was in the state `wasRevoked`. */
  opened(id: string, callId: string, wasRevoked: boolean, outcome: CallOutcome): void {
    const share = this.#of(id);
    if (outcome.outcome === 'unknown') share.mayBeOver = true;
    if (outcome.outcome !== 'done') return;
    const { ok } = outcome.value as { ok?: { oneTimeView: boolean } };
    if (ok === undefined) return;
    share.openedBy.add(callId);
    if (wasRevoked) this.#report(`share ${id} opened for ${callId} although it was revoked`);
    if (ok.oneTimeView && share.openedBy.size > 1)
      this.#report(`share ${id} opened for ${[...share.openedBy]}`);
  }

  /** Call after a last opener has tried. */
  tried(id: string): void {
    const { openedBy, mayBeOver } = this.#of(id);
    if (openedBy.size === 0 && !mayBeOver) this.#report(`share ${id} opened for nobody`);
  }

  replied({ address, command }: AskCall, reply: unknown): void {
    if (address.kind !== 'share' || command !== 'view') return;
    const { ok } = reply as { ok?: { oneTimeView: boolean } };
    if (ok?.oneTimeView !== true) return;
    const durable = this.#durable.slice<{ opened: unknown }>(address, 'share');
    if (durable?.opened === null)
      this.#report(`an opening of share ${address.id} was answered before its commit`);
  }

  #of(id: string): KnownShare {
    const known = this.#shares.get(id) ?? { openedBy: new Set(), isRevoked: false, mayBeOver: false };
    this.#shares.set(id, known);
    return known;
  }
}
