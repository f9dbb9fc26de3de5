/** The part of the `user` kind that syncs items: its commands, its slice and its table. */
import { head } from '../../collection/head.ts';
import { item } from '../../collection/item.ts';
import type { AccountSettings } from '../../services.ts';
import { createIntegrityCommand } from './check-integrity.ts';
import { createGetItemCommand } from './get-item.ts';
import type { ItemSettings } from './settings.ts';
import { createSyncCommands } from './sync.ts';

export const itemSlices = [head] as const;
export const itemTables = [item] as const;

export function createItemCommands(accounts: AccountSettings, settings: ItemSettings) {
  return {
    ...createSyncCommands(accounts, settings),
    checkIntegrity: createIntegrityCommand(accounts),
    getItem: createGetItemCommand(accounts),
  };
}
