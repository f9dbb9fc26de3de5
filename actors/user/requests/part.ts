/** What users request of their account as a whole (docs/protocol/account.md, "Requests"). */
import { userPart } from '../hooks.ts';
import { Requests } from './contract.ts';
import { exportCommands, exportSlice } from './export.ts';

export const requests = userPart(Requests, {
  name: 'requests',
  slices: [exportSlice],
  commands: exportCommands,
});
