/** The administration of pairings: passes the requests of administrators on to the `pairing` actor. */
import { tell } from '../../../runtime/command.ts';
import { pairingId } from '../../pairing/contract.ts';
import { PairingAdministration } from '../../pairing/operator-contract.ts';
import { refuse } from '../../reply.ts';
import { administeredBy } from '../administered.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { isActive } from '../profile.ts';
import { UserPairing } from './contract.ts';

const administered = administeredBy({
  actorOf: (actors) => actors.get(PairingAdministration, pairingId).ask,
  unavailable: refuse.notNow('The pairings cannot be reached at the moment. Please try again.', 5_000, {
    tag: 'pairing-unreachable',
  }),
});

export const pairing = userPart(UserPairing, {
  name: 'pairing',
  commands: {
    getPairing: administered(UserPairing.commands.getPairing, (pairing, request) => pairing.status(request)),
    listPairings: administered(UserPairing.commands.listPairings, (pairing, request) =>
      pairing.list(request),
    ),
    startPairing: administered(UserPairing.commands.startPairing, (pairing, request) =>
      pairing.start(request),
    ),
    completePairing: administered(UserPairing.commands.completePairing, (pairing, request) =>
      pairing.complete(request),
    ),
    unpair: administered(UserPairing.commands.unpair, (pairing, request) => pairing.unpair(request)),
    unpairAll: administered(UserPairing.commands.unpairAll, (pairing, request) => pairing.unpairAll(request)),
    getPairingUsage: administered(UserPairing.commands.getPairingUsage, (pairing, request) =>
      pairing.usage(request),
    ),
  },
  tells: {
    pairingNoted: tell({
      ...UserPairing.tells.pairingNoted,
      turn: (turn, { event, subscriptionId }) => {
        if (isActive(turn)) audit(turn, event, null, subscriptionId ?? undefined);
      },
    }),
  },
});
