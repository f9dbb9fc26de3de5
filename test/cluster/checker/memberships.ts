/**
 * Finds who may have been a member of which vault, and who certainly was, between two positions in the history. A
 * request takes effect between its first sending and its answer. A request that was sent more than once may also take
 * effect any time later, because an attempt may be at a paused node.
 */

import type { Timed } from '../history.ts';
import type { Permission } from '../operations.ts';
import { type Call, walk } from './calls.ts';

/** When something took effect. */
interface Effect {
  readonly from: number;
  /** Infinite if it may never have taken effect. */
  readonly by: number;
  /** When it, or a repeat of it, can take effect at the latest. */
  readonly latest: number;
}

interface Beginning extends Effect {
  readonly permissions: Set<Permission>;
}

const writing: readonly Permission[] = ['write', 'admin'];
const never = Number.POSITIVE_INFINITY;

export class Memberships {
  readonly #beginnings = new Map<string, Beginning[]>();
  readonly #removals = new Map<string, Effect[]>();
  readonly #endings = new Map<string, Effect[]>();
  readonly #deletions = new Map<string, Effect>();
  readonly #creators = new Map<string, string>();
  readonly #designated = new Map<string, Map<string, Effect>>();
  /** Keyed by invite, its possible permissions. */
  readonly #permissions = new Map<string, Set<Permission>>();
  /** Keyed by user. A long history has thousands of vaults, and each answer asks about those of its user. */
  readonly #vaults = new Map<string, Set<string>>();
  /** Keyed by user and vault, what `#endsOf` found. */
  readonly #ends = new Map<string, readonly Effect[]>();

  constructor(entries: readonly Timed[]) {
    const open = new Map<number, Call>();
    for (const { at, entry, call } of walk(entries)) {
      if (entry.event === 'found') this.#make(entry.user, entry.vault, { from: 0, by: at, latest: at });
      if (call?.operation === undefined) continue;
      if (entry.event === 'asked') open.set(call.id, call);
      if (entry.event !== 'done') continue;
      open.delete(call.id);
      const effect = effectOf(call, at, entry.status);
      if (effect !== undefined) this.#note(call, effect, entry.vault);
    }
    for (const call of open.values()) {
      this.#note(call, { from: call.firstSent, by: never, latest: never }, undefined);
    }
  }

  get vaults(): Iterable<string> {
    return this.#creators.keys();
  }

  /** In which the user may ever have been a member. */
  vaultsOf(user: string): Iterable<string> {
    return this.#vaults.get(user) ?? [];
  }

  creatorOf(vault: string): string | undefined {
    return this.#creators.get(vault);
  }

  /** At some moment between these positions. */
  mayBelong(user: string, vault: string, from: number, to: number): boolean {
    return this.#current(user, vault, from, to).length > 0;
  }

  mayWrite(user: string, vault: string, from: number, to: number): boolean {
    const current = this.#current(user, vault, from, to);
    if (current.length > 0 && this.mayOwn(user, vault, to)) return true;
    return current.some(({ permissions }) => writing.some((each) => permissions.has(each)));
  }

  /** At every moment between them. */
  surelyBelongs(user: string, vault: string, from: number, to: number): boolean {
    const ends = this.#endsOf(user, vault);
    const holds = ({ from: begun, by }: Beginning) =>
      by < from && !ends.some((end) => end.latest > begun && end.from < to);
    return (this.#beginnings.get(key(user, vault)) ?? []).some(holds);
  }

  surelyWrites(user: string, vault: string, from: number, to: number): boolean {
    const begun = (this.#beginnings.get(key(user, vault)) ?? []).filter((each) => each.from < to);
    const writes = begun.every(({ permissions }) => !permissions.has('read'));
    return writes && this.surelyBelongs(user, vault, from, to);
  }

  /** By that position: for everybody. */
  mayHaveEnded(vault: string, before: number): boolean {
    return this.#endsForAll(vault).some(({ from }) => from < before);
  }

  mayBeGone(user: string, before: number): boolean {
    return (this.#deletions.get(user)?.from ?? never) < before;
  }

  /** As its creator, or as a survivor. */
  mayOwn(user: string, vault: string, before: number): boolean {
    if (this.#creators.get(vault) === user) return true;
    return this.#designated.get(vault)?.has(user) === true && this.#mayHaveLostOwner(vault, before);
  }

  /** Whether something of another user may belong to this user by now. */
  mayHaveInherited(user: string, before: number): boolean {
    return [...this.#designated].some(
      ([vault, users]) => users.has(user) && this.mayOwn(user, vault, before),
    );
  }

  /** The user who must own the vault by now, because its owner's account is gone; undefined if that is unclear. */
  survivorOf(vault: string, now: number): string | undefined {
    const creator = this.#creators.get(vault);
    const deletion = creator === undefined ? undefined : this.#deletions.get(creator);
    const designated = [...(this.#designated.get(vault) ?? [])];
    const [[survivor, designation] = [], ...others] = designated;
    if (deletion === undefined || survivor === undefined || designation === undefined || others.length > 0)
      return undefined;
    const inTime = designation.by < deletion.from;
    const isEnded = (this.#endings.get(vault) ?? []).length > 0 || this.#deletions.has(survivor);
    if (
      !inTime ||
      isEnded ||
      (this.#removals.get(key(survivor, vault)) ?? []).some(({ latest }) => latest > designation.from)
    ) {
      return undefined;
    }
    return now > deletion.from ? survivor : undefined;
  }

  #mayHaveLostOwner(vault: string, before: number): boolean {
    return this.#owners(vault).some((owner) => this.mayBeGone(owner, before));
  }

  #owners(vault: string): readonly string[] {
    const creator = this.#creators.get(vault);
    return [...(creator === undefined ? [] : [creator]), ...(this.#designated.get(vault)?.keys() ?? [])];
  }

  /** Memberships that may exist between these positions. */
  #current(user: string, vault: string, from: number, to: number): readonly Beginning[] {
    const ends = this.#endsOf(user, vault);
    const isOver = ({ by }: Beginning) => ends.some((end) => end.from > by && end.by < from);
    return (this.#beginnings.get(key(user, vault)) ?? []).filter((each) => each.from < to && !isOver(each));
  }

  #endsOf(user: string, vault: string): readonly Effect[] {
    const known = this.#ends.get(key(user, vault));
    if (known !== undefined) return known;
    const removals = this.#removals.get(key(user, vault)) ?? [];
    const deletion = this.#deletions.get(user);
    const ends = [...removals, ...(deletion === undefined ? [] : [deletion]), ...this.#endsForAll(vault)];
    this.#ends.set(key(user, vault), ends);
    return ends;
  }

  /** An owner whose account is deleted may have a survivor or not. */
  #endsForAll(vault: string): readonly Effect[] {
    const deletions = this.#owners(vault).flatMap((owner) => this.#deletions.get(owner) ?? []);
    return [...(this.#endings.get(vault) ?? []), ...deletions];
  }

  #make(user: string, vault: string, effect: Effect): void {
    this.#creators.set(vault, user);
    this.#begin(user, vault, { ...effect, permissions: new Set<Permission>(['admin']) });
  }

  #begin(user: string, vault: string, beginning: Beginning): void {
    add(this.#beginnings, key(user, vault), beginning);
    this.#vaults.set(user, (this.#vaults.get(user) ?? new Set<string>()).add(vault));
  }

  #note({ operation, user }: Call, effect: Effect, made: string | undefined): void {
    if (operation?.does === 'make-vault' && made !== undefined) {
      this.#make(user, made, effect);
    }
    if (operation?.does === 'change-invite') this.#permissionsOf(operation.invite).add(operation.permission);
    if (operation?.does === 'accept') {
      const permissions = this.#permissionsOf(operation.invite).add(operation.permission);
      this.#begin(user, operation.vault, { ...effect, permissions });
    }
    if (operation?.does === 'remove') add(this.#removals, key(operation.whom, operation.vault), effect);
    if (operation?.does === 'end-vault') add(this.#endings, operation.vault, effect);
    // It follows the answer within seconds.
    if (operation?.does === 'delete-account')
      this.#deletions.set(user, { ...effect, by: never, latest: never });
    if (operation?.does === 'designate') {
      const users = this.#designated.get(operation.vault) ?? new Map<string, Effect>();
      this.#designated.set(operation.vault, users.set(operation.whom, effect));
    }
  }

  /** One set for each, so that a later change counts for memberships as well. */
  #permissionsOf(invite: string): Set<Permission> {
    const known = this.#permissions.get(invite) ?? new Set<Permission>();
    this.#permissions.set(invite, known);
    return known;
  }
}

/** Undefined: it was refused before it was sent again, so there is none. */
export function effectOf(
  { firstSent, lastSent }: Call,
  answeredAt: number,
  status: number,
): Effect | undefined {
  const isOnce = firstSent === lastSent;
  if (status === 200) return { from: firstSent, by: answeredAt, latest: isOnce ? answeredAt : never };
  return isOnce ? undefined : { from: firstSent, by: never, latest: never };
}

const key = (user: string, vault: string): string => `${vault} ${user}`;

function add<V>(map: Map<string, V[]>, at: string, value: V): void {
  const all = map.get(at);
  if (all === undefined) map.set(at, [value]);
  else all.push(value);
}
