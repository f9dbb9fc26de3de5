/** The `user` kind: one actor per account, a folder of small parts that share its mailbox (design section 6). */
import { type KindRef, kind } from '../../runtime/kind.ts';
import type { UserServices } from '../services.ts';
import { accountTable } from './account/account-table.ts';
import { accountCommands } from './account/commands.ts';
import { createItemCommands, itemSlices, itemTables } from './items/commands.ts';
import { operatorCommands } from './operator.ts';
import { profileSlice } from './profile.ts';
import { purgeTimer } from './purge.ts';
import { sessionCommands } from './sessions/commands.ts';
import { revokedSessionMap, sessionMap } from './sessions/session.ts';
import { socketCommands } from './sockets/commands.ts';

export function createUserKind(services: UserServices) {
  return kind({
    name: 'user',
    slices: [profileSlice, sessionMap, revokedSessionMap, ...itemSlices],
    tables: [accountTable, ...itemTables],
    commands: { ...clientCommands(services), ...operatorCommands(services) },
    timers: { purge: purgeTimer },
  });
}

/** What the gateway may ask for; what operators may stands apart (operator.ts). */
function clientCommands(services: UserServices) {
  return {
    ...accountCommands(services),
    ...sessionCommands(services),
    ...createItemCommands(services.settings, services.items),
    ...socketCommands,
  };
}

export type UserCommands = ReturnType<typeof clientCommands>;
export const User: KindRef<UserCommands> = { name: 'user' };
