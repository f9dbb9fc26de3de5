/** The access token of a pairing, for one request to the provider, and what came of that. */
import { Pairing, pairingId } from '../../actors/pairing/contract.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { StreamEnd } from './assistant.ts';

export interface Paired {
  /** Undefined: there is none just now. */
  readonly accessToken: string | undefined;
  ended(end: StreamEnd): void;
}

const endMs = 25_000;

/** Undefined: this pairing answers nobody until an administrator sees to it. */
export async function pairedFor(
  actors: Actors,
  subscriptionId: string,
  ask: AskOptions,
): Promise<Paired | undefined> {
  const pairing = actors.get(Pairing, pairingId).ask;
  const used = await pairing.use({ subscriptionId }, ask);
  if (used.outcome === 'unavailable') return undefined;
  if (used.outcome === 'later') return { accessToken: undefined, ended: () => {} };
  const { accessToken, serial } = used;
  return {
    accessToken,
    ended({ isHeard, isRejected = false, promptTokens = 0, completionTokens = 0 }) {
      if (!isHeard) return;
      const report = { subscriptionId, serial, isRejected, promptTokens, completionTokens };
      // Where this fails it is not counted, and the next one finds out.
      pairing.reportUse(report, { deadlineMs: endMs }).catch(() => undefined);
    },
  };
}
