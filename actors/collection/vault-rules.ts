/**
 * Who may do what to an item of a shared vault (docs/protocol/sync.md, "Items of vaults"), in the order of the checks. Pure.
 * Whether somebody is a member comes first of all and ahead of the version of the item, which would show its ciphertext.
 */
import type { Permission } from '../inbox-entries.ts';
import type { ConflictType } from './conflicts.ts';

/**
 * `create`: in a vault, of nothing. `add`: from the own items of somebody into a vault. `save`: over what is there. `move`:
 * from one vault into another. `remove`: out of a vault, to its owner.
 */
export type VaultOperation = 'create' | 'add' | 'save' | 'move' | 'remove';

export interface VaultSave {
  readonly operation: VaultOperation;
  /** What the saving user may do in this vault. */
  readonly permission: Permission;
  /** Whether who saves owns the item. */
  readonly isOwner: boolean;
  /** The stored one's and the one sent. */
  readonly contentTypes: readonly unknown[];
  /** Likewise. */
  readonly isDeleted: boolean;
}

const keyContentType = 'SN|KeySystemItemsKey';

/** What is left to check of a member's save. */
export function vaultDefect(save: VaultSave): ConflictType | undefined {
  const { operation, permission, isOwner, contentTypes, isDeleted } = save;
  const changesVault = operation !== 'save' && operation !== 'create';
  if (changesVault && isDeleted) return 'shared_vault_invalid_state';
  const isForOwner = operation === 'add' || operation === 'remove';
  if (isForOwner && !isOwner) return insufficient;
  if (contentTypes.includes(keyContentType) && permission !== 'admin') return insufficient;
  if (permission === 'read') return insufficient;
  return undefined;
}

const insufficient = 'shared_vault_insufficient_permissions_error';
