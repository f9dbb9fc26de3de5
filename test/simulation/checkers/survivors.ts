/**
 * The fate of vaults and items when accounts are deleted, as the commits show it.
 * - A vault changes hands only when its owner's account is deleted. It goes to its survivor, if there is one.
 * - A vault ends when its owner ends it, or when their account is deleted and there is no survivor.
 * - Its owner is an admin of it, and its survivor is another member.
 * - The old owner's items in it become the survivor's: an item says so once it is saved again.
 * - Only items of a deleted account or of an ended vault disappear.
 * - At rest every item is in an open vault or a living account, and a deleted user is a member of nothing.
 * - A member learns the owner of the vault from their syncs.
 */
import type { Commit, Write } from '../../../runtime/store/store.ts';
import type { AnyRow } from '../../../runtime/table.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

/** A removal concerns one member, a designation all possible survivors, an end everybody. */
export type RoleChange = { readonly vault: string; readonly removes?: string; readonly ends?: boolean };

export class SurvivorChecker implements Checker {
  readonly name = 'survivors';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #accounts = new Set<string>();
  readonly #deleted = new Set<string>();
  /** Those that have not ended. */
  readonly #vaults = new Map<string, AnyRow>();
  #hasOneEnded = false;
  /** Keyed by vault and by deleted owner. */
  readonly #successors = new Map<string, Map<string, string>>();
  /** Requests that may yet take effect: one commit may hold them beside the end of an owner. */
  readonly #inFlight = new Map<string, number>();
  /** Vaults that the newest commit handed on; it may hold earlier turns. */
  #handedOn: string | undefined;

  constructor(report: Report, durable: Durable) {
    this.#report = report;
    this.#durable = durable;
  }

  committed({ address, writes }: Commit): void {
    this.#handedOn = undefined;
    for (const write of writes) {
      if (write.table.name === 'account') this.#account(write);
      else if (write.table.name === 'shared_vault') this.#vault(write);
    }
    if (address.kind === 'vault') this.#checkRoles(address.id);
  }

  #account(write: Write): void {
    const user = String(('remove' in write ? write.remove : write.put)['user_uuid']);
    if ('put' in write) this.#accounts.add(user);
    else if (this.#accounts.delete(user)) this.#deleted.add(user);
  }

  #vault(write: Write): void {
    const after = 'put' in write ? write.put : undefined;
    const vault = String((after ?? ('remove' in write ? write.remove : {}))['vault']);
    const before = this.#vaults.get(vault);
    this.#hasOneEnded ||= after === undefined;
    if (after === undefined) this.#vaults.delete(vault);
    else this.#vaults.set(vault, after);
    const [owner, successor] = [String(before?.['owner_uuid']), after && String(after['owner_uuid'])];
    if (before === undefined || successor === owner) return;
    if (after === undefined && this.#isInFlight({ vault, ends: true })) return;
    if (this.#accounts.has(owner)) this.#report(`${vault} was taken from ${owner}, whose account lives`);
    this.#checkSuccessor(before, successor);
    if (successor !== undefined) this.#recordSuccession(vault, owner, successor);
  }

  /** `successor`: the new owner of the vault, if it has not ended. */
  #checkSuccessor({ vault, survivor_uuid: survivor }: AnyRow, successor: string | undefined): void {
    if (successor === survivor || this.#isInFlight({ vault: String(vault) })) return;
    if (successor !== undefined)
      this.#report(`${vault} went to ${successor}, and its survivor was ${survivor}`);
    else if (this.#isEntitled(String(vault), survivor))
      this.#report(`${vault} has ended with its owner, and its survivor ${survivor} has got nothing`);
  }

  #isEntitled(vault: string, survivor: unknown): boolean {
    return this.#accounts.has(String(survivor)) && !this.#isInFlight({ vault, removes: String(survivor) });
  }

  #recordSuccession(vault: string, owner: string, successor: string): void {
    const successors = this.#successors.get(vault) ?? new Map<string, string>();
    for (const [other, its] of successors) if (its === owner) successors.set(other, successor);
    this.#successors.set(vault, successors.set(owner, successor));
    this.#handedOn = vault;
  }

  #checkRoles(vault: string): void {
    const row = this.#vaults.get(vault);
    if (row === undefined) return;
    const [owner, survivor] = [row['owner_uuid'], row['survivor_uuid']].map((user) =>
      this.#durable.row('shared_vault_member', [vault, String(user)]),
    );
    if (owner?.['permission'] !== 'admin') this.#report(`the owner of ${vault} is no admin of it`);
    if (row['survivor_uuid'] === null) return;
    if (survivor === undefined || row['survivor_uuid'] === row['owner_uuid'])
      this.#report(`${row['survivor_uuid']} cannot be the survivor of ${vault}`);
  }

  // --- what clients do --------------------------------------------------------------------------------------

  /** A client asks for it. Call the result once it is certain that it will not take effect any more, or that it has. */
  asks(change: RoleChange): () => void {
    const key = keyOf(change);
    this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) + 1);
    return () => this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) - 1);
  }

  #isInFlight(change: RoleChange): boolean {
    return (this.#inFlight.get(keyOf(change)) ?? 0) > 0;
  }

  isDeleted(userUuid: string): boolean {
    return this.#deleted.has(userUuid);
  }

  /** A client received the answer that their account is deleted. */
  left(name: string, userUuid: string): void {
    if (this.#accounts.has(userUuid))
      this.#report(`${name} was told that their account is deleted, and it is not`);
  }

  /** Call after a last complete sync. `owners`: by vault, as the member was told. */
  equals(name: string, userUuid: string, owners: ReadonlyMap<string, string>): void {
    for (const [vault, { owner_uuid: owner }] of this.#vaults) {
      if (this.#durable.row('shared_vault_member', [vault, userUuid]) === undefined) continue;
      if (owners.get(vault) !== owner)
        this.#report(`to ${name} ${vault} is ${owners.get(vault)}'s, and it is ${owner}'s`);
    }
  }

  // --- questions of other checkers --------------------------------------------------------------------------

  /** Whichever user the item names. */
  ownerOf({ collection, owner_uuid: owner }: AnyRow): string {
    return this.#successors.get(String(collection))?.get(String(owner)) ?? String(owner);
  }

  isNobodys(row: AnyRow): boolean {
    return !this.#accounts.has(this.ownerOf(row));
  }

  /** It belonged to a deleted account, or belongs to an ended vault. */
  isOver(collection: unknown): boolean {
    return !this.#accounts.has(String(collection)) && !this.#vaults.has(String(collection));
  }

  /** An earlier item was saved again. */
  saved(row: AnyRow): void {
    if (row['collection'] === this.#handedOn || row['owner_uuid'] === this.ownerOf(row)) return;
    this.#report(`${row['uuid']} still says ${row['owner_uuid']}, and is ${this.ownerOf(row)}'s`);
  }

  pending(): string | undefined {
    if (this.#deleted.size === 0 && !this.#hasOneEnded) return undefined;
    for (const { vault, member } of this.#durable.rows('shared_vault_member'))
      if (this.#deleted.has(String(member))) return `${member} is deleted and a member of ${vault}`;
    for (const { uuid, collection, moved_to } of this.#durable.rows('item'))
      if (moved_to === null && this.isOver(collection)) return `${uuid} is left in ${collection}`;
    return undefined;
  }
}

const keyOf = ({ vault, removes, ends = false }: RoleChange): string =>
  `${vault} ${ends ? 'ends' : (removes ?? '')}`;
