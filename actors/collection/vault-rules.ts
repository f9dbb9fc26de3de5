/**
 * The rights of members on items of a shared vault (docs/protocol/sync.md, "Items of vaults"), in the order of the checks.
 * Membership is checked before all of these, and before the item's version: a conflict would show its ciphertext to somebody who is not a member.
 */
import type { Permission } from '../inbox-entries.ts';
import type { ConflictType } from './conflicts.ts';

/**
 * `create`: a new item in a vault. `add`: from a user's own items into a vault. `save`: over an item of the vault. `move`: from
 * one vault into another. `remove`: out of a vault, to the item's owner.
 */
export type VaultOperation = 'create' | 'add' | 'save' | 'move' | 'remove';

export interface VaultSave {
  readonly operation: VaultOperation;
  /** The permission of the user in this vault. */
  readonly permission: Permission;
  /** Whether the user owns the item. */
  readonly isOwner: boolean;
  /** The type as sent, and as stored. */
  readonly contentTypes: readonly unknown[];
  /** Whether it is deleted, as sent or as stored. */
  readonly isDeleted: boolean;
}

const keyContentType = 'SN|KeySystemItemsKey';

/** The first rule that a member's save breaks. */
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

// --- clients without vaults ----------------------------------------------------------------------------------

/** Clients that are older than vaults get no vault items (docs/protocol/sync.md, "Saving an item"). */
const vaultsSince = [2, 200, 0] as const;

const semver = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?$/;

/** A missing or unreadable version counts as too old. */
export function knowsVaults(snjsVersion: string | null): boolean {
  const parts = semver
    .exec(snjsVersion ?? '')
    ?.slice(1)
    .map(Number);
  if (parts === undefined) return false;
  for (const [index, required] of vaultsSince.entries()) {
    const part = parts[index] ?? 0;
    if (part !== required) return part > required;
  }
  return true;
}
