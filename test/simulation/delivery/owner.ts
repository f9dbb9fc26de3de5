/**
 * A user who leaves things for others: switches and their check-ins, reminders, shares and their openers, letters and
 * their recalls. The answers are recorded for the checkers.
 */
import type { SeededRandom } from '../../kit/random.ts';
import type { MailChecker } from '../checkers/mails.ts';
import type { SessionChecker } from '../checkers/sessions.ts';
import type { ShareChecker } from '../checkers/shares.ts';
import type { CallOutcome, Gateway } from '../gateway.ts';
import { startOfTimeMs } from '../process.ts';
import { Session, type SignInOptions } from '../sign-in.ts';
import type { SimulatedTime } from '../time.ts';

export interface OwnerOptions extends SignInOptions {
  readonly gateway: Gateway;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly sessions: SessionChecker;
  readonly mails: MailChecker;
  readonly shares: ShareChecker;
  readonly openers: number;
  readonly thinkMs: number;
  readonly callsMax: number;
}

interface MadeEntry {
  readonly name: string;
  readonly uuid: string;
  /** The answer to the newest check-in; undefined if unknown. */
  deadlineMs?: number | undefined;
  isGone?: boolean;
}

const patienceMs = 9_000;
const lastMs = 20_000;
const lastTries = 20;
const lastPauseMs = 500;

export class Owner {
  readonly #options: OwnerOptions;
  readonly #session: Session;
  readonly #switches: MadeEntry[] = [];
  readonly #reminders: MadeEntry[] = [];
  readonly #shares: string[] = [];
  readonly #letters: string[] = [];
  #hasOptedIn = false;
  #count = 0;

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.#session = new Session(options);
  }

  async work(untilMs: number): Promise<void> {
    const { time, random, thinkMs, callsMax } = this.#options;
    for (let count = 0; count < callsMax && time.nowMs < untilMs; count += 1) {
      if (this.#session.credentials === undefined) await this.#session.open(random.chance(0.5));
      else if (this.#hasOptedIn) await this.#doSomething();
      else await this.#optIn();
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** Everything is in the state of the last answer. Resolves to the obstacles that keep the owner from finding out. */
  async finish(): Promise<string | undefined> {
    const { device, mails } = this.#options;
    const isSignedIn = await this.#session.keepOpening({ triesMax: lastTries, pauseMs: lastPauseMs });
    if (!isSignedIn) return `${device} cannot sign in`;
    const switches = await this.#list<{ deadManSwitches: ListedEntry[] }>('listSwitches');
    const reminders = await this.#list<{ emailReminders: ListedEntry[] }>('listReminders');
    if (switches === undefined || reminders === undefined) return `${device} is not answered`;
    for (const made of this.#switches) {
      const listed = switches.deadManSwitches.find(({ uuid }) => uuid === made.uuid);
      if (made.isGone !== true) this.#checkSwitch(made, listed);
    }
    for (const { name, uuid, isGone } of this.#reminders) {
      const listed = reminders.emailReminders.find((each) => each.uuid === uuid);
      if (isGone !== true && listed?.sent !== true) mails.report(`${name} is not listed as sent`);
    }
    for (const id of this.#shares) {
      await this.#open(id, lastMs);
      this.#options.shares.tried(id);
    }
    return undefined;
  }

  #checkSwitch({ name, deadlineMs }: MadeEntry, listed: ListedEntry | undefined): void {
    const { mails } = this.#options;
    if (listed === undefined) mails.report(`${name} is not listed any more`);
    if (listed === undefined || deadlineMs === undefined) return;
    // A copy of the call that arrives late is a check-in too.
    if (Number(listed.deadline) < deadlineMs) mails.report(`${name} has lost a check-in`);
    const isOver = deadlineMs < this.#nowMs();
    if (listed.triggered !== isOver) mails.report(`${name} is listed as triggered: ${listed.triggered}`);
  }

  async #list<T>(command: string): Promise<T | undefined> {
    for (let tries = 0; tries < lastTries; tries += 1) {
      const listed = await this.#ask(command, {}, lastMs);
      if (listed !== undefined) return listed as T;
      await this.#options.time.sleep(lastPauseMs);
    }
    return undefined;
  }

  async #optIn(): Promise<void> {
    const { userUuid } = this.#session.credentials ?? {};
    const setting = { userUuid, name: 'EMAIL_REMINDERS_ENABLED', value: 'true' };
    this.#hasOptedIn = (await this.#ask('putSetting', setting)) !== undefined;
  }

  #doSomething(): Promise<void> {
    const drawn = this.#options.random.below(100);
    if (drawn < 16) return this.#makeSwitch();
    if (drawn < 34) return this.#checkIn();
    if (drawn < 38) return this.#deleteSwitch();
    if (drawn < 50) return this.#makeReminder();
    if (drawn < 55) return this.#deleteReminder();
    if (drawn < 66) return this.#share();
    if (drawn < 70) return this.#revoke();
    if (drawn < 88) return this.#write();
    return this.#recall();
  }

  // --- switches ---------------------------------------------------------------------------------------------

  async #makeSwitch(): Promise<void> {
    const { mails, random } = this.#options;
    const name = this.#nextName('switch');
    const deadline = this.#later(random.pick([400, 2_000, 8_000]));
    mails.due(name, deadline);
    const shareUrl = `https://notes.test/#${name}`;
    const made = await this.#ask('makeSwitch', {
      recipientEmail: `${name}@switches.test`,
      shareUrl,
      deadline,
    });
    if (made === undefined) return;
    const { uuid } = (made as { deadManSwitch: ListedEntry }).deadManSwitch;
    this.#switches.push({ name, uuid, deadlineMs: deadline });
    mails.owes(name);
  }

  async #checkIn(): Promise<void> {
    const { mails } = this.#options;
    const made = this.#one(this.#switches);
    if (made === undefined) return;
    mails.mayBeStopped(made.name);
    made.deadlineMs = undefined;
    const answer = await this.#ask('checkIn', { switchId: made.uuid });
    if (answer === undefined) return;
    made.deadlineMs = (answer as { deadline: number }).deadline;
    if (mails.isInTime(made.name)) mails.stopped(made.name);
  }

  async #deleteSwitch(): Promise<void> {
    const made = this.#one(this.#switches);
    if (made !== undefined) await this.#delete(made, 'deleteSwitch', { switchId: made.uuid });
  }

  // --- reminders --------------------------------------------------------------------------------------------

  async #makeReminder(): Promise<void> {
    const { mails, random } = this.#options;
    const name = this.#nextName('reminder');
    const dueAt = this.#later(random.pick([100, 1_000, 6_000]));
    mails.due(name, dueAt);
    const made = await this.#ask('makeReminder', { dueAt, message: name });
    if (made === undefined) return;
    this.#reminders.push({ name, uuid: (made as { emailReminder: ListedEntry }).emailReminder.uuid });
    mails.owes(name);
  }

  async #deleteReminder(): Promise<void> {
    const made = this.#one(this.#reminders);
    if (made !== undefined) await this.#delete(made, 'deleteReminder', { reminderId: made.uuid });
  }

  async #delete(made: MadeEntry, command: string, fields: object): Promise<void> {
    const { mails } = this.#options;
    mails.mayBeStopped(made.name);
    made.isGone = true;
    const answer = await this.#ask(command, fields);
    if (answer !== undefined && mails.isInTime(made.name)) mails.stopped(made.name);
  }

  // --- shares -----------------------------------------------------------------------------------------------

  async #share(): Promise<void> {
    const { random, openers } = this.#options;
    const terms = random.pick([{ oneTimeView: true }, { oneTimeView: true }, {}]);
    const made = await this.#ask('createShare', { type: 'note', encryptedPayload: 'opaque', ...terms });
    if (made === undefined) return;
    const { shareId } = made as { shareId: string };
    this.#shares.push(shareId);
    for (let opener = 0; opener < openers; opener += 1) void this.#open(shareId, patienceMs);
  }

  async #revoke(): Promise<void> {
    const { shares, random } = this.#options;
    if (this.#shares.length === 0) return;
    const shareId = random.pick(this.#shares);
    shares.mayBeOver(shareId);
    if ((await this.#ask('revokeShare', { shareId })) !== undefined) shares.revoked(shareId);
  }

  async #open(id: string, withinMs: number): Promise<void> {
    const { shares, gateway } = this.#options;
    const callId = this.#session.nextCallId();
    const wasRevoked = shares.isRevoked(id);
    const ask = {
      address: { kind: 'share', id },
      command: 'view',
      request: { roomBytes: 1_048_576 },
      callId,
    };
    const outcome = await gateway.ask(ask, withinMs);
    shares.opened(id, callId, wasRevoked, outcome);
  }

  // --- letters ----------------------------------------------------------------------------------------------

  async #write(): Promise<void> {
    const { mails, random, device } = this.#options;
    const id = this.#nextName('letter');
    this.#letters.push(id);
    const source = random.pick(['other', 'security-notice', 'invite']);
    const written = this.#tell('author', device, 'write', { id, source });
    // Most are recalled while they are on their way.
    if (random.chance(0.3)) await this.#recallOne(id);
    if ((await written).outcome === 'done' && this.#letters.includes(id)) mails.owes(id);
  }

  async #recall(): Promise<void> {
    if (this.#letters.length > 0) await this.#recallOne(this.#options.random.pick(this.#letters));
  }

  async #recallOne(id: string): Promise<void> {
    const { mails } = this.#options;
    this.#letters.splice(this.#letters.indexOf(id), 1);
    mails.mayBeStopped(id);
    const outcome = await this.#tell('mailer', 'mailer', 'recall', { id, userUuid: this.#options.device });
    if (outcome.outcome !== 'done') return;
    const { result } = outcome.value as { result: string };
    if (result === 'recalled' || result === 'dead') mails.stopped(id);
  }

  // --- asking -----------------------------------------------------------------------------------------------

  #tell(kind: string, id: string, command: string, request: object): Promise<CallOutcome> {
    const callId = this.#session.nextCallId();
    return this.#options.gateway.ask({ address: { kind, id }, command, request, callId }, patienceMs);
  }

  /** Undefined: nobody knows, or nothing was done. */
  async #ask(command: string, fields: object, withinMs = patienceMs): Promise<object | undefined> {
    const credentials = this.#session.credentials;
    const outcome = await this.#session.ask(command, { ...fields, credentials }, withinMs);
    if (outcome.outcome !== 'done') return undefined;
    const { ok, refused } = outcome.value as { ok?: object; refused?: { reason: string } };
    if (refused?.reason !== 'unauthenticated' && refused?.reason !== 'expired') return ok;
    await this.#session.refused(refused.reason);
    return undefined;
  }

  #one(of: readonly MadeEntry[]): MadeEntry | undefined {
    const there = of.filter(({ isGone }) => isGone !== true);
    return there.length === 0 ? undefined : this.#options.random.pick(there);
  }

  #nextName(what: string): string {
    this.#count += 1;
    return `${this.#options.device}-${what}-${this.#count}`;
  }

  #later(mostMs: number): number {
    return Math.ceil(this.#nowMs() + mostMs * (0.5 + this.#options.random.fraction() / 2));
  }

  #nowMs(): number {
    return startOfTimeMs + this.#options.time.nowMs;
  }
}

interface ListedEntry {
  readonly uuid: string;
  readonly deadline?: number;
  readonly triggered?: boolean;
  readonly sent?: boolean;
}
