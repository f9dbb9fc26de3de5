/** The administration of pairings: passes the requests of administrators on to the `pairing` actor. */
import { tell } from '../../../runtime/command.ts';
import { pairingId } from '../../pairing/contract.ts';
import { PairingAdministration } from '../../pairing/operator-contract.ts';
import { refuse } from '../../reply.ts';
import { adminForwarder } from '../administered.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { isActive } from '../profile.ts';
import { UserPairing } from './contract.ts';

const forward = adminForwarder({
  askOf: (actors) => actors.get(PairingAdministration, pairingId).ask,
  unavailable: refuse.notNow('The pairings cannot be reached at the moment. Please try again.', 5_000, {
    tag: 'pairing-unreachable',
  }),
});

export const userPairing = userPart(UserPairing, {
  name: 'pairing',
  commands: {
    getPairing: forward(UserPairing.commands.getPairing, (pairing, request) => pairing.status(request)),
    listPairings: forward(UserPairing.commands.listPairings, (pairing, request) => pairing.list(request)),
    startPairing: forward(UserPairing.commands.startPairing, (pairing, request) => pairing.start(request)),
    completePairing: forward(UserPairing.commands.completePairing, (pairing, request) =>
      pairing.complete(request),
    ),
    unpair: forward(UserPairing.commands.unpair, (pairing, request) => pairing.unpair(request)),
    unpairAll: forward(UserPairing.commands.unpairAll, (pairing, request) => pairing.unpairAll(request)),
    getPairingUsage: forward(UserPairing.commands.getPairingUsage, (pairing, request) =>
      pairing.usage(request),
    ),
  },
  tells: {
    pairingNoted: tell(UserPairing.tells.pairingNoted, (turn, { event, subscriptionId }) => {
      if (isActive(turn)) audit(turn, event, null, subscriptionId ?? undefined);
    }),
  },
});
