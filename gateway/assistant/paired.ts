/** Gets the access token of a pairing for one request to the provider, and reports the outcome. */
import { Pairing, pairingId } from '../../actors/pairing/contract.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { StreamEnd } from './assistant.ts';

export interface PairedCredentials {
  /** Undefined: there is no token at the moment. */
  readonly accessToken: string | undefined;
  ended(end: StreamEnd): void;
}

const endMs = 25_000;

/** Undefined if this pairing cannot answer until an administrator repairs it. */
export async function pairedFor(
  actors: Actors,
  subscriptionId: string,
  ask: AskOptions,
): Promise<PairedCredentials | undefined> {
  const pairing = actors.get(Pairing, pairingId).ask;
  const used = await pairing.use({ subscriptionId }, ask);
  if (used.outcome === 'unavailable') return undefined;
  if (used.outcome === 'later') return { accessToken: undefined, ended: () => {} };
  const { accessToken, serial } = used;
  return {
    accessToken,
    ended({ mayHaveArrived, isRejected = false, promptTokens = 0, completionTokens = 0 }) {
      if (!mayHaveArrived) return;
      const report = { subscriptionId, serial, isRejected, promptTokens, completionTokens };
      // If this fails, this use is not counted. A token that the provider rejects is then reported after the next request.
      pairing.reportUse(report, { deadlineMs: endMs }).catch(() => undefined);
    },
  };
}
