/** The migrations that make the domain's tables. What was released never changes (design section 5). */
import { createTable, type Migration } from '../runtime/store/postgres/schema.ts';
import { tables } from './kinds.ts';

export const migrations: readonly Migration[] = tables.flatMap((table) => createTable(table));
