/** The answers about features that this server does not have (docs/protocol/not-offered.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { refuse } from '../../reply.ts';
import { openToBridges, signedIn } from '../../signed-in.ts';

const nothing = z.object({});
const reading = { access: 'reads', fields: nothing, ok: nothing } as const;
const acting = { access: 'writes', fields: nothing, ok: nothing } as const;

/** Some are for every signed-in caller, some for administrators alone. What would change something is always refused: 404. */
const commands = {
  showNothing: signedIn(reading),
  doNothing: signedIn(acting),
  showAdministratorsNothing: signedIn(reading),
  doNothingForAdministrators: signedIn(acting),
};

export const notOffered = refuse.notFound('This server does not offer this feature.', 'not-offered');

export const NotOffered = contract({
  name: 'user',
  commands: openToBridges(commands),
});
