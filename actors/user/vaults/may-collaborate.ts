import type { View } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { settingValue } from '../settings/stored.ts';

/** An administrator may switch it off: then the account makes no shared vaults, joins none and invites nobody. */
export const mayCollaborate = (view: View): boolean =>
  settingValue(view, 'COLLABORATION_ENABLED') !== 'false';

export const switchedOff = refuse.forbidden('Collaboration is switched off for this account.');
