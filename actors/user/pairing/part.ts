/** The administration of pairings, as administrators ask it of their own actor. */

import { tell } from '../../../runtime/command.ts';
import { pairingId } from '../../pairing/contract.ts';
import { PairingAdministration } from '../../pairing/operator-contract.ts';
import { administeredBy } from '../administered.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { isActive } from '../profile.ts';
import { UserPairing } from './contract.ts';

const administered = administeredBy({
  actorOf: (actors) => actors.get(PairingAdministration, pairingId).ask,
  unavailable: {
    refused: {
      reason: 'unavailable',
      tag: 'pairing-unreachable',
      retryAfterMs: 5_000,
      message: 'The pairings cannot be reached at the moment. Please try again.',
    },
  },
});

const commands = {
  getPairing: administered(UserPairing.commands.getPairing, (pairing, { by, subscriptionId }) =>
    pairing.status({ by, subscriptionId }),
  ),
  listPairings: administered(UserPairing.commands.listPairings, (pairing, { by }) => pairing.list({ by })),
  startPairing: administered(UserPairing.commands.startPairing, (pairing, { by, subscriptionId }) =>
    pairing.start({ by, subscriptionId }),
  ),
  completePairing: administered(
    UserPairing.commands.completePairing,
    (pairing, { by, code, state, subscriptionId }) => pairing.complete({ by, code, state, subscriptionId }),
  ),
  unpair: administered(UserPairing.commands.unpair, (pairing, { by, subscriptionId, confirmReferences }) =>
    pairing.unpair({ by, subscriptionId, confirmReferences }),
  ),
  unpairAll: administered(UserPairing.commands.unpairAll, (pairing, { by, confirmation }) =>
    pairing.unpairAll({ by, confirmation }),
  ),
  getPairingUsage: administered(UserPairing.commands.getPairingUsage, (pairing, { by, subscriptionId }) =>
    pairing.usage({ by, subscriptionId }),
  ),
};

const tells = {
  pairingNoted: tell({
    ...UserPairing.tells.pairingNoted,
    turn: (turn, { event, subscriptionId }) => {
      if (isActive(turn)) audit(turn, event, null, subscriptionId ?? undefined);
    },
  }),
};

export const pairing = userPart(UserPairing, { name: 'pairing', commands, tells });
