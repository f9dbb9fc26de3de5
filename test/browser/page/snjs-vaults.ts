import type { Displayable, Item, Result } from './snjs-answers.ts';

export type Permission = 'read' | 'write' | 'admin';

/** A vault as the client lists it. */
export interface Vault extends Item {
  name: string;
  systemIdentifier: string;
  /** Present once it is shared. */
  sharing?: { sharedVaultUuid: string; ownerUserUuid: string };
}

export interface Contact extends Item {
  name: string;
  contactUuid: string;
}

interface Member {
  uuid: string;
  user_uuid: string;
  permission: Permission;
  is_designated_survivor: boolean;
}

interface ServerInvite {
  uuid: string;
  shared_vault_uuid: string;
  user_uuid: string;
  permission: Permission;
}

/** An invite that the client has opened, or could not open because it does not know the sender. */
interface InviteRecord {
  invite: ServerInvite;
  trusted: boolean;
}

/** The part of the library about vaults and the people who share them. */
export interface VaultServices {
  readonly contacts: {
    getCollaborationID(): string;
    addTrustedContactFromCollaborationID(id: string, name: string): Promise<Contact | undefined>;
    findContact(userUuid: string): Contact | undefined;
    getAllContacts(): Contact[];
  };
  readonly vaults: {
    getVaults(): Vault[];
    createRandomizedVault(vault: NewVault): Promise<Vault>;
    /** Saves the item as one of the vault. */
    moveItemToVault(vault: Vault, item: Item): Promise<Result<Item>>;
    removeItemFromVault(item: Item): Promise<Item>;
    getItemVault(item: Item): Vault | undefined;
    changeVaultMetadata(vault: Vault, change: { name: string; description: string }): Promise<Vault>;
    rotateVaultRootKey(vault: Vault): Promise<void>;
    deleteVault(vault: Vault): Promise<boolean | Displayable>;
  };
  readonly sharedVaults: {
    createSharedVault(vault: NewVault): Promise<Vault | Displayable>;
    convertVaultToSharedVault(vault: Vault): Promise<Vault | Displayable>;
    deleteSharedVault(vault: Vault): Promise<Displayable | undefined>;
    getItemLastEditedBy(item: Item): Contact | undefined;
  };
  readonly vaultUsers: {
    getSharedVaultUsersFromServer(vault: Vault): Promise<Member[] | undefined>;
    isCurrentUserSharedVaultOwner(vault: Vault): boolean;
    removeUserFromSharedVault(vault: Vault, userUuid: string): Promise<Result<void>>;
    leaveSharedVault(vault: Vault): Promise<Displayable | undefined>;
    designateSurvivor(vault: Vault, userUuid: string): Promise<Result<void>>;
  };
  readonly vaultInvites: {
    downloadInboundInvites(): Promise<ServerInvite[] | Displayable>;
    getCachedPendingInviteRecords(): InviteRecord[];
    acceptInvite(record: InviteRecord): Promise<Result<void>>;
    inviteContactToSharedVault(
      vault: Vault,
      contact: Contact,
      permission: Permission,
    ): Promise<Result<ServerInvite>>;
    getOutboundInvites(vault?: Vault): Promise<ServerInvite[] | Displayable>;
    deleteInvite(invite: ServerInvite): Promise<Displayable | undefined>;
  };
  readonly asymmetric: {
    getInboundMessages(): Promise<Result<object[]>>;
    downloadAndProcessInboundMessages(): Promise<void>;
  };
}

interface NewVault {
  name: string;
  description: string;
  iconString: string;
  /** Where the client keeps the key of the vault: among the synced items. */
  storagePreference: 'synced';
}
