/**
 * A user whose reminders go out by messengers. They publish reminders, replace them, delete them, opt out and begin
 * anew. The answers are recorded for the checker.
 *
 * A copy of a call may come late, after another has undone its effect. So nothing is undone before that is over, and
 * nothing begins again after an opt-out.
 */
import type { SeededRandom } from '../../kit/random.ts';
import type { MessageChecker } from '../checkers/messages.ts';
import type { SessionChecker } from '../checkers/sessions.ts';
import type { Gateway } from '../gateway.ts';
import { startOfTimeMs } from '../process.ts';
import { Session, type SignInOptions } from '../sign-in.ts';
import type { SimulatedTime } from '../time.ts';

export interface PublisherOptions extends SignInOptions {
  readonly gateway: Gateway;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly sessions: SessionChecker;
  readonly messages: MessageChecker;
  readonly thinkMs: number;
  readonly callsMax: number;
}

interface PublishedReminder {
  readonly id: string;
  /** The due date of its newest occurrence. */
  name: string;
  occurrences: number;
  dueMs: number;
  /** When the last call about it was over. */
  touchedMs: number;
  /** Its state is unknown. */
  isUnsure: boolean;
}

interface ListedReminder {
  readonly id: string;
  readonly message: string;
  readonly state: string;
}

type Answer = { readonly ok: object } | { readonly refused: { readonly reason: string } } | undefined;

/** The account's destination, or the reminder's own. */
const targets = [{}, { channel: 'whatsapp', destination: '+4915112345678' }] as const;

const patienceMs = 9_000;
const copiesMs = 12_000;
const lastMs = 20_000;
const lastTries = 20;
const lastPauseMs = 500;

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #session: Session;
  #published: PublishedReminder[] = [];
  #isOpen = false;
  #closedUntilMs = 0;
  #count = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#session = new Session(options);
  }

  async work(untilMs: number): Promise<void> {
    const { time, random, thinkMs, callsMax } = this.#options;
    for (let count = 0; count < callsMax && time.nowMs < untilMs; count += 1) {
      if (this.#session.credentials === undefined) await this.#session.open(random.chance(0.5));
      else if (this.#isOpen) await this.#doSomething();
      else if (time.nowMs >= this.#closedUntilMs) await this.#open();
      await time.sleep(random.fraction() * 2 * thinkMs);
    }
  }

  /** Everything is as shown. Resolves to the obstacles that keep the publisher from finding out. */
  async finish(): Promise<string | undefined> {
    const { device, messages, time } = this.#options;
    const isSignedIn = await this.#session.keepOpening({ triesMax: lastTries, pauseMs: lastPauseMs });
    if (!isSignedIn) return `${device} cannot sign in`;
    for (let tries = 0; tries < lastTries; tries += 1) {
      const answer = await this.#ask('listPublishedReminders', {}, lastMs);
      if (answer !== undefined && 'ok' in answer) {
        for (const { message, state } of (answer.ok as { reminders: readonly ListedReminder[] }).reminders)
          messages.reported(message, state);
        return undefined;
      }
      // Its feature is off, and there is nothing.
      if (answer?.refused.reason === 'forbidden') return undefined;
      await time.sleep(lastPauseMs);
    }
    return `${device} is not answered`;
  }

  async #open(): Promise<void> {
    const { userUuid } = this.#session.credentials ?? {};
    const setting = { userUuid, name: 'REMINDER_DELIVERY_ENABLED', value: 'true' };
    if (!isDone(await this.#ask('putSetting', setting))) return;
    const config = { channel: 'telegram', destination: '4711', enabled: true };
    this.#isOpen = isDone(await this.#ask('setDeliveryConfig', config));
  }

  #doSomething(): Promise<void> {
    const drawn = this.#options.random.below(100);
    if (drawn < 50) return this.#publish();
    if (drawn < 75) return this.#replace();
    if (drawn < 92) return this.#delete();
    return this.#optOut();
  }

  async #publish(): Promise<void> {
    this.#count += 1;
    const id = `${this.#options.device}-note-${this.#count}`;
    const made = { id, name: '', occurrences: 0, dueMs: 0, touchedMs: 0, isUnsure: false };
    this.#published.push(made);
    if (!(await this.#put(made))) this.#published = this.#published.filter((each) => each !== made);
  }

  async #replace(): Promise<void> {
    const made = this.#certain();
    if (made === undefined) return;
    const { messages } = this.#options;
    const { name } = made;
    messages.mayBeStopped(name);
    if (await this.#put(made)) messages.replaced(name);
    else made.isUnsure = true;
  }

  /** Another occurrence of it, with a new text. Resolves to whether that succeeded. */
  async #put(made: PublishedReminder): Promise<boolean> {
    const { messages, random } = this.#options;
    made.occurrences += 1;
    const name = `${made.id}/${made.occurrences}`;
    const dueMs = Math.max(made.dueMs + 1, this.#nowMs() + random.pick([100, 2_000, 13_000, 16_000]));
    messages.due(name, dueMs);
    const dueAtUtc = new Date(dueMs).toISOString();
    const target = targets[(this.#count + made.occurrences) % targets.length];
    const answer = await this.#ask('publishReminder', { id: made.id, message: name, dueAtUtc, ...target });
    made.touchedMs = this.#options.time.nowMs;
    if (!isDone(answer)) return false;
    Object.assign(made, { name, dueMs });
    messages.owes(name);
    return true;
  }

  async #delete(): Promise<void> {
    const made = this.#certain();
    if (made === undefined) return;
    const { messages } = this.#options;
    messages.mayBeStopped(made.name);
    made.isUnsure = true;
    if (isDone(await this.#ask('deletePublishedReminder', { id: made.id }))) messages.stopped(made.name);
  }

  async #optOut(): Promise<void> {
    const { messages, time } = this.#options;
    const all = this.#published;
    this.#published = [];
    this.#isOpen = false;
    for (const { name } of all) messages.mayBeStopped(name);
    const answer = await this.#ask('optOutOfDelivery', {});
    this.#closedUntilMs = time.nowMs + copiesMs;
    if (answer === undefined || !('ok' in answer)) return;
    const { alreadyDispatched } = answer.ok as { alreadyDispatched: boolean };
    messages.optedOut(
      all.map(({ name }) => name),
      alreadyDispatched,
    );
  }

  /** A reminder with no call in flight; often the one that is, or was, due at about this moment. */
  #certain(): PublishedReminder | undefined {
    const { time, random } = this.#options;
    const certain = this.#published.filter(
      ({ isUnsure, touchedMs }) => !isUnsure && time.nowMs - touchedMs > copiesMs,
    );
    if (certain.length === 0) return undefined;
    if (random.chance(0.5)) return random.pick(certain);
    const nowMs = this.#nowMs();
    return certain.toSorted((a, b) => Math.abs(a.dueMs - nowMs) - Math.abs(b.dueMs - nowMs))[0];
  }

  async #ask(command: string, fields: object, withinMs = patienceMs): Promise<Answer> {
    const credentials = this.#session.credentials;
    const outcome = await this.#session.ask(command, { ...fields, credentials }, withinMs);
    if (outcome.outcome !== 'done') return undefined;
    const answer = outcome.value as Exclude<Answer, undefined>;
    if (
      'ok' in answer ||
      (answer.refused.reason !== 'unauthenticated' && answer.refused.reason !== 'expired')
    )
      return answer;
    await this.#session.refused(answer.refused.reason);
    return undefined;
  }

  #nowMs(): number {
    return Math.ceil(startOfTimeMs + this.#options.time.nowMs);
  }
}

const isDone = (answer: Answer): boolean => answer !== undefined && 'ok' in answer;
