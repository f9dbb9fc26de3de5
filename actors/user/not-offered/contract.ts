/** The answers about features that this server does not have (docs/protocol/not-offered.md). */
import { contract } from '../../../runtime/contract.ts';
import { refuse } from '../../reply.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';

export const notOffered = refuse.notFound('This server does not offer this feature.', 'not-offered');

export const NotOffered = contract({
  name: 'user',
  /** Some are for every signed-in caller, some for administrators alone. What would change something is always refused: 404. */
  commands: openToBridges({
    showNothing: reads(),
    doNothing: writes(),
    showAdministratorsNothing: reads(),
    doNothingForAdministrators: writes(),
  }),
});
