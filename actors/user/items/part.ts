/** The commands of the `user` actor for its own items. */
import { checkIntegrity } from './check-integrity.ts';
import { comeHome } from './come-home.ts';
import { getItem } from './get-item.ts';
import { syncCommands } from './sync.ts';

export const itemCommands = { ...syncCommands, checkIntegrity, getItem, comeHome };
