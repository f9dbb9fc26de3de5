/** The domain's tables and the migrations that make them. What was released never changes (design section 5). */
import { createTable, type Migration } from '../runtime/store/postgres/schema.ts';
import { accountTable } from './user/account/account-table.ts';
import { itemTables } from './user/items/commands.ts';

export const domainTables = [accountTable, ...itemTables] as const;

export const domainMigrations: readonly Migration[] = domainTables.flatMap((table) => createTable(table));
