/** One simulated device of an account: it edits and deletes items, and syncs like a client. */
import type { SeededRandom } from '../kit/random.ts';
import type { Account } from './account.ts';
import type { Report } from './checkers/checker.ts';
import { ConflictChecker, type SentEdit } from './checkers/conflicts.ts';
import type { Durable } from './checkers/durable.ts';
import { Replica, type SentItem, type SyncAnswer } from './checkers/replica.ts';
import type { SessionChecker } from './checkers/sessions.ts';
import type { StalenessChecker } from './checkers/staleness.ts';
import { positionOf } from './checkers/sync-token.ts';
import type { Audience } from './lane/audience.ts';
import type { Decided, LaneRequest, Syncer } from './lane/syncer.ts';
import { Session, type SignInOptions } from './sign-in.ts';
import type { SimulatedTime } from './time.ts';

export interface DeviceOptions extends SignInOptions {
  readonly account: Account;
  readonly random: SeededRandom;
  readonly time: SimulatedTime;
  readonly sessions: SessionChecker;
  readonly staleness: StalenessChecker;
  readonly durable: Durable;
  readonly replicaReport: Report;
  readonly conflictReport: Report;
  readonly thinkMs: number;
  readonly callsMax: number;
  readonly patienceMs: number;
  /** It never edits and never forgets, so that it never recovers a missed change. */
  readonly onlyReads: boolean;
  /** Uuids that other accounts use as well. */
  readonly foreignUuids: readonly string[];
  /** Set if devices sync by named commands. */
  readonly lane?: {
    readonly syncerOf: (session: Session) => Syncer;
    readonly audience: Audience;
    /** How many devices the account has. */
    readonly devices: number;
  };
}

interface Edit {
  readonly content: string | null;
  readonly deleted: boolean;
}

const pagesMax = 400;
const lastTries = 40;
const lastMs = 20_000;
const lastPauseMs = 500;

export class Device {
  readonly #options: DeviceOptions;
  readonly #session: Session;
  readonly #conflicts: ConflictChecker;
  readonly #syncer: Syncer | undefined;
  readonly #edits = new Map<string, Edit>();
  #replica: Replica;
  #token: string | null = null;
  #cursor: string | null = null;
  #edition = 0;

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.#session = new Session(options);
    this.#syncer = options.lane?.syncerOf(this.#session);
    this.#conflicts = new ConflictChecker(options.device, options.conflictReport, options.durable);
    this.#replica = this.#newReplica();
  }

  async work(untilMs: number): Promise<void> {
    const { time, random, thinkMs, callsMax } = this.#options;
    for (let count = 0; count < callsMax && time.nowMs < untilMs; count += 1) {
      if (this.#session.credentials === undefined) await this.#session.open(random.chance(0.5));
      else await this.#doSomething();
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** One more save, which the other listeners hear of. Resolves to the obstacles. */
  async lastSave(): Promise<string | undefined> {
    const { device, lane, onlyReads, time, random } = this.#options;
    if (lane === undefined) return undefined;
    for (let tries = 0; tries < lastTries && !lane.audience.isListening(device); tries += 1) {
      await this.#session.keepOpening({ triesMax: 10, pauseMs: lastPauseMs });
      await this.#syncer?.open();
      await time.sleep(lastPauseMs);
    }
    if (!lane.audience.isListening(device)) return `${device} cannot open a socket`;
    await lane.audience.waitForAll(device, lane.devices);
    if (onlyReads) return undefined;
    for (let tries = 0; tries < lastTries; tries += 1) {
      await this.#session.keepOpening({ triesMax: 10, pauseMs: lastPauseMs });
      this.#edits.clear();
      const text = this.#edit(random.uuid());
      const sinceMs = time.nowMs;
      const answer = await this.#sync(lastMs);
      if (answer?.saved_items.some(({ uuid }) => uuid === text)) {
        await lane.audience.notifiesOthers(device, sinceMs);
        return undefined;
      }
      await time.sleep(lastPauseMs);
    }
    return `${device} cannot save a last time`;
  }

  /** Syncs until nothing new comes, and gives up unsaved changes. Resolves to the obstacles. */
  async finish(): Promise<string | undefined> {
    const { device } = this.#options;
    const isSignedIn = await this.#session.keepOpening({ triesMax: 10, pauseMs: lastPauseMs });
    if (!isSignedIn) return `${device} cannot sign in`;
    this.#edits.clear();
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const before = this.#token;
      const answer = await this.#sync(lastMs);
      if (answer === undefined) await this.#options.time.sleep(lastPauseMs);
      const isLast = answer?.cursor_token === undefined && answer?.retrieved_items.length === 0;
      if (answer === undefined || !isLast || answer.sync_token !== before) continue;
      this.#replica.equals(this.#options.durable, this.#session.credentials?.userUuid ?? '');
      return undefined;
    }
    return `${this.#options.device} never comes to the end of its syncs`;
  }

  async #doSomething(): Promise<void> {
    const { random, onlyReads, patienceMs } = this.#options;
    const drawn = random.below(100);
    if (drawn < 9) return this.#session.refresh();
    if (!onlyReads) {
      if (drawn < 60) this.#editSome();
      else if (drawn < 68) this.#delete();
      else if (drawn < 70) return this.#signOut();
      else if (drawn < 74) this.#forget();
    }
    await this.#sync(onlyReads ? patienceMs : random.pick([1_500, 4_500, 9_000]));
  }

  #editSome(): void {
    const { random, account, foreignUuids } = this.#options;
    for (let edits = 1 + random.below(3); edits > 0; edits -= 1) {
      const from = random.pick([this.#replica.live(), account.uuids, foreignUuids, []]);
      this.#edit(from.length > 0 ? random.pick(from) : random.uuid());
    }
  }

  #edit(uuid: string): string {
    const { random, device } = this.#options;
    this.#edition += 1;
    const content = `004:${device}:${this.#edition}:${'.'.repeat(random.pick([0, 40, 600]))}`;
    this.#edits.set(uuid, { content, deleted: false });
    return uuid;
  }

  #delete(): void {
    const live = this.#replica.live();
    if (live.length > 0) this.#edits.set(this.#options.random.pick(live), { content: null, deleted: true });
  }

  /** Like a restarted client: it has nothing, and pages through everything. */
  #forget(): void {
    this.#replica = this.#newReplica();
    this.#edits.clear();
    this.#syncer?.forget();
    this.#token = null;
    this.#cursor = null;
  }

  async #signOut(): Promise<void> {
    const { staleness, account, gateway } = this.#options;
    const identifier = this.#session.credentials?.identifier;
    const ended = await this.#session.close();
    this.#forget();
    await this.#syncer?.signedOut(identifier, ended !== undefined);
    if (ended === undefined) return;
    const callId = this.#session.nextCallId();
    staleness.asksAfterEnd(callId, account.email);
    const address = { kind: 'user', id: ended.userUuid };
    const request = { credentials: ended, snjs_version: null, api: '20200115' };
    await gateway.ask({ address, command: 'sync', request, callId }, 4_000);
  }

  async #sync(withinMs: number): Promise<SyncAnswer | undefined> {
    const { random, account } = this.#options;
    const sentRequest = {
      items: this.#items(),
      sync_token: this.#token,
      cursor_token: this.#cursor,
      limit: random.pick([2, 5, 150]),
      api: '20200115',
    };
    const { userUuid = '', identifier = '' } = this.#session.credentials ?? {};
    this.#conflicts.sends(identifier, sentRequest.items);
    const { request, outcome } = await (this.#syncer?.sync(sentRequest, withinMs) ??
      this.#ask(sentRequest, withinMs));
    if (outcome.outcome !== 'done') return undefined;
    const answer = await this.#accepted(outcome.value);
    if (answer === undefined) return undefined;
    account.reached(positionOf(answer.sync_token).position);
    this.#conflicts.answered(userUuid, identifier, request.items, answer);
    this.#apply(answer, request.items);
    return answer;
  }

  async #ask(sentRequest: LaneRequest, withinMs: number): Promise<Decided> {
    const { account, staleness } = this.#options;
    const callId = this.#session.nextCallId();
    if (sentRequest.items.length === 0) staleness.asksSync(callId, account.email, account.position);
    const request = { ...sentRequest, credentials: this.#session.credentials, snjs_version: null };
    return { request: sentRequest, outcome: await this.#session.ask('sync', request, withinMs, callId) };
  }

  async #accepted(value: unknown): Promise<SyncAnswer | undefined> {
    const answer = value as { ok?: SyncAnswer; refused?: { reason: string } };
    if (answer.refused === undefined) return answer.ok;
    await this.#session.refused(answer.refused.reason);
    return undefined;
  }

  #items(): readonly SentEdit[] {
    return [...this.#edits].map(([uuid, { content, deleted }]) => ({
      uuid,
      content,
      deleted,
      content_type: uuid.startsWith('0') ? 'SN|ItemsKey' : 'Note',
      enc_item_key: deleted ? null : '004:key',
      created_at_timestamp: 1_700_000_000_000_000,
      updated_at_timestamp: this.#replica.get(uuid)?.version ?? 0,
    }));
  }

  #apply(answer: SyncAnswer, sent: readonly SentItem[]): void {
    this.#replica.applied(answer, sent);
    this.#token = answer.sync_token;
    this.#cursor = answer.cursor_token ?? null;
    // Refused changes are given up, and accepted ones are done.
    for (const { uuid } of sent) this.#edits.delete(uuid);
  }

  #newReplica(): Replica {
    const { device, replicaReport, lane } = this.#options;
    return new Replica(device, replicaReport, lane !== undefined);
  }
}
