/**
 * One simulated user of shared vaults. They make vaults, admit and remove members, and designate survivors. They save
 * items in vaults, move them between vaults and their own collection, and sync like a client. In the end they may
 * delete their account. The answers are recorded for the checkers.
 */
import { NotFoundError } from '../../../runtime/errors.ts';
import type { SeededRandom } from '../../kit/random.ts';
import type { SessionChecker } from '../checkers/sessions.ts';
import type { RoleChange, SurvivorChecker } from '../checkers/survivors.ts';
import { membershipsIn } from '../checkers/sync-token.ts';
import type { VaultChecker } from '../checkers/vaults.ts';
import type { CallOutcome } from '../gateway.ts';
import { Session, type SignInOptions } from '../sign-in.ts';
import type { SimulatedTime } from '../time.ts';
import type { Invite, SharedFacts } from './shared-facts.ts';
import type { MemberAnswer, MemberCopy, ReceivedOfVault, SentToVault } from './wire.ts';

export interface MemberOptions extends SignInOptions {
  readonly facts: SharedFacts;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly sessions: SessionChecker;
  readonly checker: VaultChecker;
  readonly survivors: SurvivorChecker;
  /** How many vaults they make. */
  readonly vaults: number;
  readonly thinkMs: number;
  readonly callsMax: number;
  /** As a share of their time and of their calls, if they delete their account then. */
  readonly stays: number | undefined;
  /** They designate survivors, and manage their vaults more. */
  readonly designates: boolean;
  /** They end their own vaults, and make others. */
  readonly ends: boolean;
}

interface Copy extends MemberCopy {
  readonly vault: string | null;
}

const patienceMs = 9_000;
const lastMs = 20_000;
const lastPauseMs = 500;
const triesMax = 40;
const pagesMax = 400;

export class Member {
  readonly #options: MemberOptions;
  readonly #session: Session;
  readonly #owned: string[] = [];
  #copies = new Map<string, Copy>();
  /** Keyed by vault, as the server told them. */
  readonly #owners = new Map<string, string>();
  #token: string | null = null;
  #cursor: string | null = null;
  /** Sent but unanswered requests: they are sent again unchanged. */
  #unanswered: readonly SentToVault[] = [];
  #edition = 0;
  #state: 'here' | 'leaving' | 'left' = 'here';

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#session = new Session(options);
  }

  async work(untilMs: number): Promise<void> {
    const { time, random, thinkMs, callsMax, stays = 1 } = this.#options;
    const isAtWork = (count: number) => count < callsMax && time.nowMs < untilMs && this.#state !== 'left';
    for (let count = 0; isAtWork(count) || this.#state === 'leaving'; count += 1) {
      if (this.#session.credentials === undefined) await this.#open(random.chance(0.5));
      else if (count < callsMax * stays && time.nowMs < untilMs * stays) await this.#doSomething();
      else await this.#leave();
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** Continues with syncs to the end, and begins once more from nothing. Resolves to the obstacles. */
  async finish(): Promise<string | undefined> {
    const { device } = this.#options;
    if (this.#state === 'left') return undefined;
    const lastTry = { triesMax, pauseMs: lastPauseMs };
    const isSignedIn = await this.#session.keepOpening(lastTry, (registering) => this.#open(registering));
    if (!isSignedIn) return `${device} cannot sign in`;
    const hindrance = await this.#syncToEnd();
    if (hindrance !== undefined) return hindrance;
    this.#forget();
    return this.#syncToEnd();
  }

  async #syncToEnd(): Promise<string | undefined> {
    const { device, checker, survivors, time } = this.#options;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const before = this.#token;
      const answer = await this.#sync([], lastMs);
      if (answer === undefined) await time.sleep(lastPauseMs);
      if (answer === undefined || answer.cursor_token !== undefined) continue;
      if (answer.retrieved_items.length > 0 || answer.sync_token !== before) continue;
      checker.equals(device, this.#userUuid, this.#copies);
      survivors.equals(device, this.#userUuid, this.#owners);
      return undefined;
    }
    return `${device} never comes to the end of its syncs`;
  }

  async #open(registering: boolean): Promise<void> {
    await this.#session.open(registering);
    if (this.#userUuid !== '') this.#options.facts.isUser(this.#options.device, this.#userUuid);
  }

  async #doSomething(): Promise<void> {
    const { random, facts, vaults, designates, ends } = this.#options;
    const drawn = random.below(100);
    if (this.#owned.length < vaults) return this.#makeVault();
    const invites = facts.invites.filter(({ recipient }) => recipient === this.#userUuid);
    if (invites.length > 0 && drawn < 50) return this.#accept(random.pick(invites));
    if (drawn < 4) return this.#session.refresh();
    if (drawn < 6) return this.#forget();
    const manages = designates ? 60 : 30;
    if (drawn < manages && this.#owned.length > 0) return this.#manageVault();
    if (drawn < manages + 3 && facts.vaults.length > 0)
      return this.#remove(random.pick(facts.vaults), this.#userUuid);
    // Preferably while a save of theirs is unanswered, so that its repeat finds the vault gone.
    const ending = this.#unanswered.length > 0 ? 85 : 98;
    if (drawn >= ending && ends && this.#owned.length > 0) return this.#end(random.pick(this.#owned));
    const items = this.#unanswered.length > 0 && random.chance(0.7) ? this.#unanswered : this.#edits();
    this.#unanswered = items;
    if ((await this.#sync(items, random.pick([1_500, 4_500, patienceMs]))) !== undefined)
      this.#unanswered = [];
  }

  async #makeVault(): Promise<void> {
    const made = (await this.#ask('createVault', {})) as { sharedVault: { uuid: string } } | undefined;
    if (made === undefined) return;
    this.#owned.push(made.sharedVault.uuid);
    this.#options.facts.vaults.push(made.sharedVault.uuid);
  }

  /** They make another instead. If nobody knows whether the old one has ended, it counts as ended. */
  async #end(vault: string): Promise<void> {
    const isOver = this.#options.survivors.asks({ vault, ends: true });
    const { outcome } = await this.#outcome('deleteVault', { sharedVaultUuid: vault });
    if (outcome !== 'unknown') isOver();
    this.#owned.splice(this.#owned.indexOf(vault), 1);
  }

  /** Admits a user to a vault of theirs, removes one, or designates one as the survivor. */
  async #manageVault(): Promise<void> {
    const { random, facts, designates } = this.#options;
    const [vault, others] = [random.pick(this.#owned), facts.others(this.#userUuid)];
    if (others.length === 0) return;
    const other = random.pick(others);
    const candidates = facts.accepted.filter((each) => each.vault === vault);
    if (designates && candidates.length > 0 && random.chance(0.7))
      return this.#designate(vault, random.pick(candidates).recipient);
    if (random.chance(designates ? 0.2 : 0.4)) return this.#remove(vault, other);
    const permission = random.pick(['write', 'write', 'admin', 'read']);
    const fields = { recipient_uuid: other, encrypted_message: 'secret', permission };
    const invited = await this.#ask('inviteToVault', { sharedVaultUuid: vault, ...fields });
    if (invited === undefined) return;
    const { uuid } = (invited as { invite: { uuid: string } }).invite;
    facts.invites.push({ vault, recipient: other, uuid });
  }

  #remove(vault: string, userUuid: string): Promise<void> {
    return this.#change({ vault, removes: userUuid }, 'removeVaultMember', userUuid);
  }

  #designate(vault: string, userUuid: string): Promise<void> {
    return this.#change({ vault }, 'designateSurvivor', userUuid);
  }

  async #change(change: RoleChange, command: string, userUuid: string): Promise<void> {
    const isOver = this.#options.survivors.asks(change);
    const { outcome } = await this.#outcome(command, { sharedVaultUuid: change.vault, userUuid });
    if (outcome !== 'unknown') isOver();
  }

  /**
   * Repeats until there is an answer. An earlier request may have succeeded by now, so they sign in rather than trust
   * a token.
   */
  async #leave(): Promise<void> {
    const { survivors, device, account } = this.#options;
    const [userUuid, credentials] = [this.#userUuid, this.#session.credentials];
    this.#state = 'leaving';
    const request = { credentials, userUuid, password: account.password };
    const outcome = await this.#session.ask('deleteAccount', request, patienceMs);
    const isAnswered = outcome.outcome === 'done';
    const isDone = isAnswered && 'ok' in (outcome.value as object);
    const isForgotten = !isAnswered && outcome.error instanceof NotFoundError;
    // Tells recreate a forgotten actor: it knows no session.
    if (isDone || isForgotten || (isAnswered && survivors.isDeleted(userUuid))) {
      survivors.left(device, userUuid);
      this.#state = 'left';
    } else if (isAnswered) await this.#session.open(false);
  }

  async #accept(invite: Invite): Promise<void> {
    const { facts } = this.#options;
    const accepted = await this.#ask('acceptVaultInvite', {
      sharedVaultUuid: invite.vault,
      inviteUuid: invite.uuid,
    });
    if (accepted === undefined) return;
    facts.invites.splice(facts.invites.indexOf(invite), 1);
    facts.accepted.push(invite);
  }

  /** Like a restarted client: it has nothing. */
  #forget(): void {
    this.#copies = new Map();
    this.#owners.clear();
    this.#token = null;
    this.#cursor = null;
    this.#unanswered = [];
  }

  #edits(): readonly SentToVault[] {
    const { random } = this.#options;
    const edits = new Map<string, SentToVault>();
    for (let count = random.below(4); count > 0; count -= 1) {
      const edit = this.#edit();
      edits.set(edit.uuid, edit);
    }
    this.#options.checker.sends([...edits.values()]);
    return [...edits.values()];
  }

  #edit(): SentToVault {
    const { random, facts, device } = this.#options;
    const known = [...this.#copies.keys()];
    const from = random.pick([known, known, known, facts.items, []]);
    const uuid = from.length > 0 ? random.pick(from) : random.uuid();
    if (!facts.items.includes(uuid)) facts.items.push(uuid);
    const copy = this.#copies.get(uuid);
    const vault =
      copy !== undefined && random.chance(0.5) ? copy.vault : random.pick([null, ...facts.vaults]);
    const deleted = copy !== undefined && random.chance(0.08);
    this.#edition += 1;
    const content = `004:${device}:${this.#edition}:${'.'.repeat(random.pick([0, 40, 600]))}`;
    const edit = {
      uuid,
      deleted,
      content: deleted ? null : content,
      content_type: 'Note',
      enc_item_key: deleted ? null : '004:key',
      created_at_timestamp: 1_700_000_000_000_000,
      updated_at_timestamp: copy?.version ?? 0,
      shared_vault_uuid: vault,
      key_system_identifier: vault === null ? null : 'system',
    };
    return edit;
  }

  async #sync(items: readonly SentToVault[], withinMs: number): Promise<MemberAnswer | undefined> {
    const { random, checker, device: name } = this.#options;
    const [since, token, userUuid] = [checker.commits, this.#cursor ?? this.#token, this.#userUuid];
    const request = {
      items,
      sync_token: this.#token,
      cursor_token: this.#cursor,
      limit: random.pick([2, 5, 150]),
      api: '20200115',
      snjs_version: '2.204.7',
    };
    const answer = (await this.#ask('sync', request, withinMs)) as MemberAnswer | undefined;
    if (answer === undefined) return undefined;
    const knowsVaults = token !== null && membershipsIn(token).size > 0;
    checker.answered({ name, userUuid, since, items, knowsVaults }, answer);
    this.#apply(answer, items);
    return answer;
  }

  #apply(answer: MemberAnswer, sent: readonly SentToVault[]): void {
    const before = membershipsIn(this.#cursor ?? this.#token ?? '');
    const after = membershipsIn(answer.sync_token);
    // A client drops its data of a vault from which it was away.
    for (const [uuid, { vault }] of this.#copies) {
      if (vault !== null && after.get(vault) !== before.get(vault)) this.#copies.delete(uuid);
    }
    for (const vault of this.#owners.keys())
      if (after.get(vault) !== before.get(vault)) this.#owners.delete(vault);
    for (const vault of answer.shared_vaults) this.#keepOwner(vault);
    for (const item of answer.retrieved_items) this.#keepRetrieved(item);
    for (const { server_item: item } of answer.conflicts) if (item !== undefined) this.#keepRetrieved(item);
    for (const item of answer.saved_items)
      this.#keep(item, sent.find(({ uuid }) => uuid === item.uuid)?.content);
    this.#token = answer.sync_token;
    this.#cursor = answer.cursor_token ?? null;
  }

  #keepOwner({ uuid, user_uuid: owner }: MemberAnswer['shared_vaults'][number]): void {
    this.#owners.set(uuid, owner);
    if (owner === this.#userUuid && !this.#owned.includes(uuid)) this.#owned.push(uuid);
  }

  #keepRetrieved(item: ReceivedOfVault): void {
    const { checker, device } = this.#options;
    checker.isNoOlder(device, this.#copies.get(item.uuid), item);
    this.#keep(item, item.content);
  }

  /** The last one counts, as with clients: they do not compare versions. */
  #keep(item: ReceivedOfVault, content: string | null | undefined): void {
    const { uuid, updated_at_timestamp: version, deleted, shared_vault_uuid: vault } = item;
    this.#copies.set(uuid, { version, deleted, content: deleted ? null : (content ?? null), vault });
  }

  get #userUuid(): string {
    return this.#session.credentials?.userUuid ?? '';
  }

  /** Undefined: nobody knows, or nothing was done. */
  async #ask(command: string, fields: object, withinMs = patienceMs): Promise<object | undefined> {
    const outcome = await this.#outcome(command, fields, withinMs);
    return outcome.outcome === 'done' ? (outcome.value as { ok?: object }).ok : undefined;
  }

  async #outcome(command: string, fields: object, withinMs = patienceMs): Promise<CallOutcome> {
    const credentials = this.#session.credentials;
    const outcome = await this.#session.ask(command, { ...fields, credentials }, withinMs);
    if (outcome.outcome !== 'done') return outcome;
    const { refused } = outcome.value as { refused?: { reason: string } };
    if (refused?.reason === 'unauthenticated' || refused?.reason === 'expired')
      await this.#session.refused(refused.reason);
    return outcome;
  }
}
