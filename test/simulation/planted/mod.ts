import { bugs as actors } from './actors.ts';
import { bugs as cluster } from './cluster.ts';
import { bugs as delivery } from './delivery.ts';
import { bugs as lane } from './lane.ts';
import { bugs as vaults } from './vaults.ts';

/** The planted bugs, by what they are in. */
export const plantedBugs = { actors, cluster, delivery, vaults, lane };
