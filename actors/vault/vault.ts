/**
 * The `vault` kind: a list of parts that share one mailbox.
 *
 * Invariants:
 * - Every decision about a vault is made in a turn of its actor, by the rows of its members at that moment.
 * - Its owner is a member with `admin`, and its survivor is a member who is not the owner.
 * - Nobody has both a member's row and an invite's.
 * - Every change tells the users concerned in its own commit, so that nobody hears of a change that did not happen.
 */
import { hooksOf, kindOfParts, type Part } from '../../runtime/part.ts';
import { Vault } from './contract.ts';
import { filesOfVault } from './files/part.ts';
import type { VaultHooks } from './hooks.ts';
import { importing } from './import/part.ts';
import { vaultItems } from './items/part.ts';
import { membership } from './membership/part.ts';
import { memberTable } from './tables.ts';

const features: readonly Part<VaultHooks>[] = [vaultItems, filesOfVault, importing];

export const vaultParts: readonly Part<VaultHooks>[] = [membership(hooksOf(features)), ...features];

export const vault = kindOfParts(Vault.name, vaultParts, { membershipTable: memberTable });
