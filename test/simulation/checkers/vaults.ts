/**
 * Items of vaults, as the commits and the answers to members show them.
 * - An item has an owning collection from its first save on: never none, and at rest exactly one, which has its
 *   greatest transfer version. One row keeps its uuid taken. It goes only with its owner (see survivors.ts).
 * - Among all edits of one version one is accepted. A save that was acknowledged is there or was replaced by a later
 *   one.
 * - Every item sent is in exactly one of saved and conflicts.
 * - No edit conflicts with itself when it is sent again, also if its vault has ended meanwhile.
 * - A user who saves in a vault is a member who may write, in that very commit. After its end, owners delete their
 *   own items.
 * - A member receives an item of a vault only if it was there at a moment of the call at which they were a member.
 * - Nobody receives an older state of an item than they already have.
 * - A user who syncs to the end has all their items, in the last version.
 */
import type { Commit, Write } from '../../../runtime/store/store.ts';
import type { AnyRow } from '../../../runtime/table.ts';
import type { MemberAnswer, MemberCopy, ReceivedOfVault, SentToVault } from '../vaults/wire.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';
import type { SurvivorChecker } from './survivors.ts';

/** From one commit on, until another. */
interface Span {
  readonly from: number;
  to: number;
}

export interface AnsweredSync {
  readonly name: string;
  readonly userUuid: string;
  /** The commits that existed at the request. */
  readonly since: number;
  readonly items: readonly SentToVault[];
  /** Whether its token knows vaults: without that, items that may be in one are put off. */
  readonly knowsVaults: boolean;
}

export class VaultChecker implements Checker {
  readonly name = 'vaults';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #survivors: SurvivorChecker;
  #commits = 0;
  /** Keyed by item, the rows that are no forwarding tombstones by their collections. */
  readonly #owningRows = new Map<string, Map<string, AnyRow>>();
  /** When this version was in this collection. */
  readonly #versions = new Map<string, Span[]>();
  readonly #memberships = new Map<string, Span[]>();
  readonly #members = new Map<string, AnyRow>();
  /** Keyed by vault, the commit that ended it. */
  readonly #ends = new Map<string, number>();
  /** For each text, which nobody writes twice, its base; and for that base, the accepted text. */
  readonly #bases = new Map<string, string>();
  readonly #accepted = new Map<string, string>();
  /** They belonged to somebody who is gone. Whatever has their uuids after that is something else. */
  readonly #gone = new Set<string>();

  constructor(report: Report, durable: Durable, survivors: SurvivorChecker) {
    this.#report = report;
    this.#durable = durable;
    this.#survivors = survivors;
  }

  get commits(): number {
    return this.#commits;
  }

  sends(items: readonly SentToVault[]): void {
    for (const { uuid, content, updated_at_timestamp: base } of items) {
      if (content !== null) this.#bases.set(content, `${uuid}@${base}`);
    }
  }

  committed({ address, writes }: Commit): void {
    this.#commits += 1;
    const before = new Map<string, AnyRow>();
    for (const write of writes) {
      if (write.table.name === 'shared_vault_member') this.#member(write, before);
      if (write.table.name === 'shared_vault' && 'remove' in write)
        this.#ends.set(String(write.remove['vault']), this.#commits);
    }
    for (const write of writes) {
      if (write.table.name !== 'item') continue;
      if ('remove' in write) this.#purged(this.#rowAt(write.remove), write.remove);
      else this.#item(write.put, address.kind === 'vault' ? before : undefined);
    }
  }

  #member(write: Write, before: Map<string, AnyRow>): void {
    const key = 'remove' in write ? write.remove : write.put;
    const member = memberOf(key['vault'], key['member']);
    const spans = this.#memberships.get(member) ?? [];
    this.#memberships.set(member, spans);
    const last = spans.at(-1);
    const isOpen = last?.to === Number.POSITIVE_INFINITY;
    const known = this.#members.get(member);
    if (known !== undefined) before.set(member, known);
    if ('remove' in write) {
      if (known === undefined) before.set(member, joinedAndLeft);
      this.#members.delete(member);
      if (isOpen) last.to = this.#commits;
    } else {
      this.#members.set(member, write.put);
      if (!isOpen) spans.push({ from: this.#commits, to: Number.POSITIVE_INFINITY });
    }
  }

  /** Keyed by a purge: with a forwarding tombstone, or without one if it never moved. */
  #purged(row: AnyRow | undefined, { uuid, collection }: AnyRow): void {
    const owningRows = this.#owningRows.get(String(uuid)) ?? new Map<string, AnyRow>();
    owningRows.delete(String(collection));
    this.#end(row);
    if (row === undefined || !this.#survivors.isNobodys(row) || !this.#survivors.isOver(collection))
      this.#report(`${uuid} was removed from ${collection}`);
    else if ([...owningRows.values()].every((other) => transferVersionOf(other) < transferVersionOf(row)))
      this.#gone.add(String(uuid));
  }

  /** `before`: the members' rows that the commit has replaced, if it is a vault's. */
  #item(row: AnyRow, before: ReadonlyMap<string, AnyRow> | undefined): void {
    const { uuid, collection, content } = row;
    const owningRows = this.#owningRows.get(String(uuid)) ?? new Map<string, AnyRow>();
    this.#owningRows.set(String(uuid), owningRows);
    const known = owningRows.get(String(collection));
    if (row['moved_to'] === collection) {
      this.#purged(known, row);
      return;
    }
    if (row['moved_to'] !== null) {
      owningRows.delete(String(collection));
      this.#end(known);
      if (owningRows.size === 0 && !this.#gone.has(String(uuid)))
        this.#report(`${uuid} has no owning collection any more since it left ${collection}`);
      return;
    }
    owningRows.set(String(collection), row);
    if (known?.['updated_at_timestamp'] === row['updated_at_timestamp']) return;
    this.#end(known);
    const spans = this.#versions.get(versionOf(row)) ?? [];
    this.#versions.set(versionOf(row), [...spans, { from: this.#commits, to: Number.POSITIVE_INFINITY }]);
    if ((row['shared_vault_uuid'] ?? null) !== (before === undefined ? null : collection)) {
      this.#report(`${uuid} lies in ${collection} and says ${row['shared_vault_uuid']}`);
    }
    if (typeof content === 'string') this.#accept(content);
    if (before === undefined) return;
    this.#checkSaver(row, before);
    if (known !== undefined) this.#survivors.saved(row);
  }

  #rowAt({ uuid, collection }: AnyRow): AnyRow | undefined {
    return this.#owningRows.get(String(uuid))?.get(String(collection));
  }

  #end(row: AnyRow | undefined): void {
    const last = row && this.#versions.get(versionOf(row))?.at(-1);
    if (last?.to === Number.POSITIVE_INFINITY) last.to = this.#commits;
  }

  #checkSaver(row: AnyRow, before: ReadonlyMap<string, AnyRow>): void {
    const member = memberOf(row['collection'], row['last_edited_by_uuid']);
    // One commit may hold the turns of both, the save and the end of the membership.
    const rows = [before.get(member), this.#members.get(member)];
    if (rows.some((each) => each !== undefined && each['permission'] !== 'read')) return;
    const isOwners = row['last_edited_by_uuid'] === this.#survivors.ownerOf(row);
    if (row['deleted'] === true && isOwners && this.#survivors.isOver(row['collection'])) return;
    this.#report(`${row['uuid']} was saved in ${member}, who may not write there`);
  }

  #accept(content: string): void {
    const base = this.#bases.get(content);
    if (base === undefined) {
      this.#report(`nobody has sent ${content}`);
      return;
    }
    if (this.#gone.has(uuidOf(base))) return;
    const other = this.#accepted.get(base);
    if (other !== undefined && other !== content) {
      this.#report(`of two edits of ${base}, ${other} and ${content}, both were accepted`);
    }
    this.#accepted.set(base, content);
  }

  answered(request: AnsweredSync, answer: MemberAnswer): void {
    for (const each of request.items) this.#checkOutcome(request, each, answer);
    for (const each of answer.conflicts) this.#checkConflict(request, each);
    for (const each of answer.retrieved_items) this.#checkReceived(request, each, true);
    for (const { server_item: each } of answer.conflicts)
      if (each !== undefined) this.#checkReceived(request, each, false);
  }

  #checkOutcome({ name, knowsVaults }: AnsweredSync, sent: SentToVault, answer: MemberAnswer): void {
    const saved = answer.saved_items.filter(({ uuid }) => uuid === sent.uuid);
    const conflicts = answer.conflicts.filter(
      ({ server_item, unsaved_item }) => (unsaved_item ?? server_item)?.uuid === sent.uuid,
    );
    const mayBePutOff =
      !knowsVaults && sent.shared_vault_uuid === null && sent.updated_at_timestamp !== 0 ? 0 : 1;
    const outcomes = saved.length + conflicts.length;
    if (outcomes > 1 || outcomes < mayBePutOff) {
      this.#report(
        `${name} sent ${sent.uuid} and was answered ${saved.length} saved, ${conflicts.length} conflicts`,
      );
    }
    const [entry] = saved;
    if (entry === undefined) return;
    if (sent.content !== null) this.#accept(sent.content);
    const owningRows = [...(this.#owningRows.get(sent.uuid)?.values() ?? [])];
    const version = entry.updated_at_timestamp;
    if (owningRows.some((row) => Number(row['updated_at_timestamp']) >= version) || this.#gone.has(sent.uuid))
      return;
    this.#report(`${name} was told that ${sent.uuid}@${version} is saved, and it is nowhere`);
  }

  /** Nobody writes a text twice. */
  #checkConflict(
    { name, userUuid, items }: AnsweredSync,
    { type, server_item: stored, unsaved_item: unsaved }: MemberAnswer['conflicts'][number],
  ): void {
    const sent = items.find(({ uuid }) => uuid === (stored ?? unsaved)?.uuid);
    if (sent === undefined || sent.content === null) return;
    const { uuid, content, shared_vault_uuid: vault } = sent;
    const own = this.#owningRows.get(uuid)?.get(userUuid);
    const isInOwnCollection =
      own?.['content'] === content && vault !== null && this.#sawTheEnd(vault, userUuid);
    if (stored?.content === content || isInOwnCollection)
      this.#report(`${name} was told ${type} of ${uuid} about its own edit, which is saved`);
  }

  /** They were a member when the vault ended. */
  #sawTheEnd(vault: string, userUuid: string): boolean {
    const last = this.#memberships.get(memberOf(vault, userUuid))?.at(-1);
    return last !== undefined && last.to === this.#ends.get(vault);
  }

  /** `isCommitted`: it was read from the database, so that exactly this version was there. */
  #checkReceived(
    { name, userUuid, since }: AnsweredSync,
    received: ReceivedOfVault,
    isCommitted: boolean,
  ): void {
    const { uuid, updated_at_timestamp: version, shared_vault_uuid: vault } = received;
    if (vault === null) {
      if (received.user_uuid !== userUuid) this.#report(`${name} was given ${uuid}, which is another's`);
      return;
    }
    const memberships = this.#memberships.get(memberOf(vault, userUuid)) ?? [];
    const versions = isCommitted ? (this.#versions.get(`${vault} ${uuid}@${version}`) ?? []) : [always];
    const call = { from: since, to: this.#commits + 1 };
    for (const member of memberships) for (const there of versions) if (meet(call, member, there)) return;
    this.#report(`${name} was given ${uuid}@${version} of ${vault} and was no member while it was there`);
  }

  /** Clients keep what comes last, so it must be the newest. */
  isNoOlder(name: string, copy: MemberCopy | undefined, received: ReceivedOfVault): void {
    const { uuid, updated_at_timestamp: version, shared_vault_uuid: vault } = received;
    if (copy === undefined || copy.version <= version || this.#gone.has(uuid)) return;
    this.#report(`${name} has ${uuid}@${copy.version} and was given it as it was in ${vault}, @${version}`);
  }

  pending(): string | undefined {
    for (const timer of this.#durable.rows('timer')) {
      if (String(timer['name']).startsWith('finalizeOverdueTransfer'))
        return `a transfer of ${timer['kind']} ${timer['id']}`;
    }
    return undefined;
  }

  atRest(): void {
    const rows = new Map<string, AnyRow[]>();
    for (const row of this.#durable.rows('item')) {
      const uuid = String(row['uuid']);
      rows.set(uuid, [...(rows.get(uuid) ?? []), row]);
    }
    for (const [uuid, all] of rows) {
      const owningRows = all.filter((row) => row['moved_to'] === null);
      const hops = all.map(transferVersionOf);
      const isGone = owningRows.length === 0 && this.#gone.has(uuid);
      if (owningRows.length !== 1 && !isGone)
        this.#report(`${uuid} has ${owningRows.length} owning collections`);
      if (transferVersionOf(owningRows[0] ?? {}) < Math.max(...hops) && !isGone)
        this.#report(`the owning collection of ${uuid} is not its last`);
      if (all.filter((row) => row['born'] === true).length !== 1)
        this.#report(`not one row keeps ${uuid} taken`);
    }
  }

  /** Call after a last complete sync. */
  equals(name: string, userUuid: string, copies: ReadonlyMap<string, MemberCopy>): void {
    for (const [uuid, owningRows] of this.#owningRows) {
      const [row] = [...owningRows.values()].filter(
        ({ collection }) => collection === userUuid || this.#members.has(memberOf(collection, userUuid)),
      );
      if (row === undefined) continue;
      const mine = copies.get(uuid);
      const version = Number(row['updated_at_timestamp']);
      if (row['deleted'] === true) {
        if (mine?.deleted === false) this.#report(`${name} still has ${uuid}, which is deleted`);
      } else if (mine?.version !== version || mine.content !== row['content']) {
        this.#report(`${name} has ${uuid}@${mine?.version} and the server @${version}`);
      }
    }
  }
}

/** Within one commit, with a permission that nobody has seen. */
const joinedAndLeft: AnyRow = {};
const always: Span = { from: 0, to: Number.POSITIVE_INFINITY };
const uuidOf = (base: string): string => base.slice(0, base.indexOf('@'));
const transferVersionOf = ({ hop }: AnyRow): number => Number(hop ?? 0);
const memberOf = (vault: unknown, user: unknown): string => `${vault} ${user}`;
const versionOf = ({ collection, uuid, updated_at_timestamp }: AnyRow): string =>
  `${collection} ${uuid}@${updated_at_timestamp}`;

function meet(...spans: readonly Span[]): boolean {
  return Math.max(...spans.map(({ from }) => from)) < Math.min(...spans.map(({ to }) => to));
}
