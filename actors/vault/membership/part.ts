/** The vault as a whole, with its members and invites: how it begins, changes hands and ends (docs/protocol/shared-vaults.md). */
import { head } from '../../collection/head.ts';
import { Vault } from '../contract.ts';
import { type RaisedHooks, vaultPart } from '../hooks.ts';
import { VaultSettings } from '../settings.ts';
import { statusSlice } from '../state.ts';
import { successorMap } from '../successors.ts';
import { inviteTable, memberTable, vaultTable } from '../tables.ts';
import { create } from './create.ts';
import { end, userGone } from './end.ts';
import { inviteCommands } from './invites.ts';
import { memberCommands } from './members.ts';
import { tearDownTimer } from './tear-down.ts';

export const membership = (hooks: RaisedHooks) =>
  vaultPart(Vault, {
    name: 'membership',
    uses: [VaultSettings],
    slices: [statusSlice, successorMap, head],
    tables: [vaultTable, memberTable, inviteTable],
    commands: { create, end: end(hooks), ...memberCommands, ...inviteCommands },
    tells: { userGone: userGone(hooks) },
    timers: { tearDown: tearDownTimer(hooks) },
  });
