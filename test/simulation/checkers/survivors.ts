/**
 * What becomes of vaults and of items when accounts are deleted, as the commits show it.
 *
 * - A vault changes hands only when its owner's account is deleted. It goes to its survivor, if there is one.
 * - A vault ends when its owner ends it, or when their account is deleted and there is no survivor.
 * - Its owner is an admin of it, and its survivor is another member.
 * - What the old owner had in it is the survivor's: an item says so once it is saved again.
 * - Nothing goes but the items of who is gone, from what is over: a deleted account, or a vault that has ended.
 * - At rest everything has its owning collection in an open vault or a living account, and who is gone is a member of nothing.
 * - A member finds out by his syncs whose the vault is.
 */
import type { Commit, Write } from '../../../runtime/store/store.ts';
import type { AnyRow } from '../../../runtime/table.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

/** A removal concerns one member, a designation whoever else is the survivor, an end everybody. */
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
  /** By vault and by who was deleted. */
  readonly #heirs = new Map<string, Map<string, string>>();
  /** What was asked and may yet come about: one commit may hold it beside the end of an owner. */
  readonly #inFlight = new Map<string, number>();
  /** Handed on by the newest commit, which may hold earlier turns. */
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
    const [owner, heir] = [String(before?.['owner_uuid']), after && String(after['owner_uuid'])];
    if (before === undefined || heir === owner) return;
    if (after === undefined && this.#isInFlight({ vault, ends: true })) return;
    if (this.#accounts.has(owner)) this.#report(`${vault} was taken from ${owner}, whose account lives`);
    this.#checkHeir(before, heir);
    if (heir !== undefined) this.#inherit(vault, owner, heir);
  }

  /** `heir`: who has got the vault, if it has not ended. */
  #checkHeir({ vault, survivor_uuid: survivor }: AnyRow, heir: string | undefined): void {
    if (heir === survivor || this.#isInFlight({ vault: String(vault) })) return;
    if (heir !== undefined) this.#report(`${vault} went to ${heir}, and its survivor was ${survivor}`);
    else if (this.#isEntitled(String(vault), survivor))
      this.#report(`${vault} has ended with its owner, and its survivor ${survivor} has got nothing`);
  }

  #isEntitled(vault: string, survivor: unknown): boolean {
    return this.#accounts.has(String(survivor)) && !this.#isInFlight({ vault, removes: String(survivor) });
  }

  #inherit(vault: string, owner: string, heir: string): void {
    const heirs = this.#heirs.get(vault) ?? new Map<string, string>();
    for (const [other, its] of heirs) if (its === owner) heirs.set(other, heir);
    this.#heirs.set(vault, heirs.set(owner, heir));
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

  /** Somebody asks for it. To be told once it is certain that it will not come about any more, or that it has. */
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

  /** Somebody was told that his account is deleted. */
  left(name: string, userUuid: string): void {
    if (this.#accounts.has(userUuid)) this.#report(`${name} was told that he is deleted, and he is not`);
  }

  /** After a last sync that was complete. `owners`: by vault, as the member was told. */
  equals(name: string, userUuid: string, owners: ReadonlyMap<string, string>): void {
    for (const [vault, { owner_uuid: owner }] of this.#vaults) {
      if (this.#durable.row('shared_vault_member', [vault, userUuid]) === undefined) continue;
      if (owners.get(vault) !== owner)
        this.#report(`to ${name} ${vault} is ${owners.get(vault)}'s, and it is ${owner}'s`);
    }
  }

  // --- what other checkers ask ------------------------------------------------------------------------------

  /** Whoever's name the item bears. */
  ownerOf({ collection, owner_uuid: owner }: AnyRow): string {
    return this.#heirs.get(String(collection))?.get(String(owner)) ?? String(owner);
  }

  isNobodys(row: AnyRow): boolean {
    return !this.#accounts.has(this.ownerOf(row));
  }

  /** It was of an account that is deleted, or is of a vault that has ended. */
  isOver(collection: unknown): boolean {
    return !this.#accounts.has(String(collection)) && !this.#vaults.has(String(collection));
  }

  /** What was there before was saved again. */
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
