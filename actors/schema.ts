/** The domain's tables. Their migrations are beside this. */
import { accountTable } from './user/account/account-table.ts';
import { itemTables } from './user/items/commands.ts';

export const domainTables = [accountTable, ...itemTables] as const;
