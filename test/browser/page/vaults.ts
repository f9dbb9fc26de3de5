import { displayable, okOf } from './answers.ts';
import type { Application, Note } from './snjs.ts';
import type { Item } from './snjs-answers.ts';
import type { Contact, Permission, Vault } from './snjs-vaults.ts';

export interface VaultNote {
  title: string;
  text: string;
  /** Null if it is in none. */
  vault: string | null;
  /** The name of the contact who changed it last. */
  lastEditedBy: string | null;
}

export interface MemberView {
  name: string;
  permission: Permission;
  isSurvivor: boolean;
}

/** The vaults of a device, each by its name, and the users it shares them with, by the device's names for them. */
export class Vaults {
  readonly #application: () => Application;

  constructor(application: () => Application) {
    this.#application = application;
  }

  /** What a user gives to another, so that the other can find them. */
  collaborationId(): string {
    return this.#app.contacts.getCollaborationID();
  }

  async trust(collaborationId: string, name: string): Promise<void> {
    await this.#app.contacts.addTrustedContactFromCollaborationID(collaborationId, name);
  }

  /** A vault to which others can be invited. */
  async create(name: string): Promise<void> {
    const vault = { name, description: '', iconString: 'safe-square', storagePreference: 'synced' } as const;
    displayable(await this.#app.sharedVaults.createSharedVault(vault));
  }

  names(): string[] {
    return this.#app.vaults.getVaults().map(({ name }) => name);
  }

  async rename(name: string, to: string): Promise<void> {
    await this.#app.vaults.changeVaultMetadata(this.#vault(name), { name: to, description: '' });
  }

  async rotateKey(name: string): Promise<void> {
    await this.#app.vaults.rotateVaultRootKey(this.#vault(name));
  }

  /** The keys under which the items of the vault are, according to the server. */
  keyCount(): number {
    return this.#app.items.getItems('SN|KeySystemItemsKey').length;
  }

  async delete(name: string): Promise<void> {
    displayable(await this.#app.sharedVaults.deleteSharedVault(this.#vault(name)));
  }

  async invite(name: string, contact: string, permission: Permission): Promise<void> {
    const invitee = this.#contact(contact);
    okOf(await this.#app.vaultInvites.inviteContactToSharedVault(this.#vault(name), invitee, permission));
  }

  /** For each received invite, whether the client knows its sender. */
  invites(): { trusted: boolean; permission: Permission }[] {
    const records = this.#app.vaultInvites.getCachedPendingInviteRecords();
    return records.map(({ trusted, invite }) => ({ trusted, permission: invite.permission }));
  }

  async acceptInvite(): Promise<void> {
    const [record] = this.#app.vaultInvites.getCachedPendingInviteRecords();
    if (record === undefined) throw new Error('No invite has come.');
    okOf(await this.#app.vaultInvites.acceptInvite(record));
  }

  async declineInvite(): Promise<void> {
    const [record] = this.#app.vaultInvites.getCachedPendingInviteRecords();
    if (record === undefined) throw new Error('No invite has come.');
    displayable(await this.#app.vaultInvites.deleteInvite(record.invite));
  }

  /** All that this account has sent for the vault. */
  async cancelInvites(name: string): Promise<void> {
    for (const invite of displayable(await this.#app.vaultInvites.getOutboundInvites(this.#vault(name))))
      displayable(await this.#app.vaultInvites.deleteInvite(invite));
  }

  /** The server's invites: sent for the vault, and received by this account. */
  async sentInviteCount(name: string): Promise<number> {
    return displayable(await this.#app.vaultInvites.getOutboundInvites(this.#vault(name))).length;
  }

  async inboundInviteCount(): Promise<number> {
    return displayable(await this.#app.vaultInvites.downloadInboundInvites()).length;
  }

  async members(name: string): Promise<MemberView[]> {
    const members = (await this.#app.vaultUsers.getSharedVaultUsersFromServer(this.#vault(name))) ?? [];
    return members.map(({ user_uuid, permission, is_designated_survivor }) => ({
      name: this.#app.contacts.findContact(user_uuid)?.name ?? 'unknown',
      permission,
      isSurvivor: is_designated_survivor,
    }));
  }

  async designateSurvivor(name: string, contact: string): Promise<void> {
    const { contactUuid } = this.#contact(contact);
    okOf(await this.#app.vaultUsers.designateSurvivor(this.#vault(name), contactUuid));
  }

  async removeMember(name: string, contact: string): Promise<void> {
    const { contactUuid } = this.#contact(contact);
    okOf(await this.#app.vaultUsers.removeUserFromSharedVault(this.#vault(name), contactUuid));
  }

  async leave(name: string): Promise<void> {
    displayable(await this.#app.vaultUsers.leaveSharedVault(this.#vault(name)));
  }

  owns(name: string): boolean {
    return this.#app.vaultUsers.isCurrentUserSharedVaultOwner(this.#vault(name));
  }

  async moveIn(name: string, title: string): Promise<void> {
    okOf(await this.#app.vaults.moveItemToVault(this.#vault(name), this.#note(title)));
  }

  async moveOut(title: string): Promise<void> {
    await this.#app.vaults.removeItemFromVault(this.#note(title));
  }

  notes(): VaultNote[] {
    const { items, vaults, sharedVaults } = this.#app;
    return items
      .getItems<Note>('Note')
      .map((note) => ({
        title: note.title,
        text: note.text,
        vault: vaults.getItemVault(note)?.name ?? null,
        lastEditedBy: sharedVaults.getItemLastEditedBy(note)?.name ?? null,
      }))
      .sort((a, b) => a.title.localeCompare(b.title));
  }

  get #app(): Application {
    return this.#application();
  }

  #vault(name: string): Vault {
    return vaultNamed(this.#app, name);
  }

  #contact(name: string): Contact {
    const contact = this.#app.contacts.getAllContacts().find((known) => known.name === name);
    if (contact === undefined) throw new Error(`There is no contact ${name}.`);
    return contact;
  }

  #note(title: string): Item {
    const note = this.#app.items.getItems<Note>('Note').find((item) => item.title === title);
    if (note === undefined) throw new Error(`There is no note ${title}.`);
    return note;
  }
}

export function vaultNamed({ vaults }: Application, name: string): Vault {
  const vault = vaults.getVaults().find((listed) => listed.name === name);
  if (vault === undefined) throw new Error(`There is no vault ${name}.`);
  return vault;
}
