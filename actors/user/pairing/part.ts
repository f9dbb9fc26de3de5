/** The administration of pairings, as administrators ask it of their own actor. */
import { tell } from '../../../runtime/command.ts';
import { pairingId } from '../../pairing/contract.ts';
import { PairingAdministration } from '../../pairing/operator-contract.ts';
import { administeredBy } from '../administered.ts';
import { audit } from '../audit/trail.ts';
import { User } from '../contract.ts';
import { profileSlice } from '../profile.ts';

const administered = administeredBy({
  actorOf: (actors) => actors.get(PairingAdministration, pairingId).ask,
  unavailable: {
    refused: {
      ...{ status: 503, tag: 'pairing-unreachable', retryAfterMs: 5_000 },
      message: 'The pairings cannot be reached at the moment. Please try again.',
    },
  },
});

export const pairingCommands = {
  getPairing: administered(User.commands.getPairing, (pairing, { by, subscriptionId }) =>
    pairing.status({ by, subscriptionId }),
  ),
  listPairings: administered(User.commands.listPairings, (pairing, { by }) => pairing.list({ by })),
  startPairing: administered(User.commands.startPairing, (pairing, { by, subscriptionId }) =>
    pairing.start({ by, subscriptionId }),
  ),
  completePairing: administered(
    User.commands.completePairing,
    (pairing, { by, code, state, subscriptionId }) => pairing.complete({ by, code, state, subscriptionId }),
  ),
  unpair: administered(User.commands.unpair, (pairing, { by, subscriptionId, confirmReferences }) =>
    pairing.unpair({ by, subscriptionId, confirmReferences }),
  ),
  unpairAll: administered(User.commands.unpairAll, (pairing, { by, confirmation }) =>
    pairing.unpairAll({ by, confirmation }),
  ),
  getPairingUsage: administered(User.commands.getPairingUsage, (pairing, { by, subscriptionId }) =>
    pairing.usage({ by, subscriptionId }),
  ),
};

export const pairingTells = {
  pairingNoted: tell({
    ...User.tells.pairingNoted,
    turn: (turn, { event, subscriptionId }) => {
      if (turn.get(profileSlice).state === 'active') audit(turn, event, null, subscriptionId ?? undefined);
    },
  }),
};
