/** What administrators do for users (docs/protocol/account.md, "Administration"). */
import { userPart } from '../hooks.ts';
import { adminCommands } from './administrator.ts';
import { Administration } from './contract.ts';

export const administration = userPart(Administration, {
  name: 'administration',
  commands: adminCommands,
});
