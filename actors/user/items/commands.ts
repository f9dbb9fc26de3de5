/** The commands of the `user` actor for its own items. */
import { checkIntegrity } from './check-integrity.ts';
import { comeHome } from './come-home.ts';
import { getItem } from './get-item.ts';
import { sync } from './sync.ts';

export const itemCommands = { sync, checkIntegrity, getItem, comeHome };
