/**
 * Compares the mails at the relay with the promises to clients. The checker knows a mail by its content and
 * recipient, as the relay sees it.
 * - Every owed mail arrives, and a mail that was stopped in time does not.
 * - Nothing arrives before it is due, nor before the commit that owes it.
 * - No message begins before the commit that hands it over. So it begins twice only if the host learned nothing of
 *   the first time, or the relay said that it did not take it. A mail that may not be repeated begins twice only in
 *   the second case.
 */
import type { MailMessage } from '../../../actors/mailer/sender.ts';
import { type MailSource, rulesOf, waitMsAfter } from '../../../actors/mailer/sources.ts';
import type { Commit } from '../../../runtime/store/store.ts';
import { startOfTimeMs } from '../process.ts';
import type { SimulatedTime } from '../time.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';

export interface Attempt {
  readonly message: MailMessage;
  readonly handOvers: number;
  readonly wasAccepted: boolean;
  /** `asked`: the relay waits for the message. `begun`: some of it has arrived. */
  fate: 'asked' | 'begun' | 'taken' | 'not-taken';
}

export interface MailCheckerOptions {
  readonly report: Report;
  readonly durable: Durable;
  readonly time: SimulatedTime;
  readonly skewMs: number;
}

const mailer = { kind: 'mailer', id: 'mailer' };

export class MailChecker implements Checker {
  readonly name = 'mails';
  readonly #options: MailCheckerOptions;
  readonly #attempts = new Map<string, Attempt[]>();
  readonly #handOvers = new Map<string, number>();
  readonly #accepted = new Set<string>();
  readonly #dues = new Map<string, number>();
  readonly #owed = new Set<string>();
  readonly #stopped = new Set<string>();

  constructor(options: MailCheckerOptions) {
    this.#options = options;
  }

  report(message: string): void {
    this.#options.report(message);
  }

  // --- the promises to clients ------------------------------------------------------------------------------

  /** No mail of this name is sent earlier. */
  due(name: string, dueMs: number): void {
    this.#dues.set(name, dueMs);
  }

  /** This must arrive, unless somebody tries to stop it. */
  owes(name: string): void {
    this.#owed.add(name);
  }

  mayBeStopped(name: string): void {
    this.#owed.delete(name);
  }

  /** A client received the answer that it will not be sent. */
  stopped(name: string): void {
    this.#stopped.add(name);
  }

  /** Whether the present answer came in time to stop it. */
  isInTime(name: string): boolean {
    return this.#nowMs() < (this.#dues.get(name) ?? 0) - this.#options.skewMs;
  }

  // --- the relay's view -------------------------------------------------------------------------------------

  attempted(message: MailMessage): Attempt {
    const { messageId } = message;
    const handOvers = this.#handOvers.get(messageId) ?? 0;
    return { message, handOvers, wasAccepted: this.#accepted.has(messageId), fate: 'asked' };
  }

  /** The time until its next attempt if the present one fails; infinity if there is none. */
  waitMsIfPutOff({ messageId }: MailMessage): number {
    const mails = [...this.#options.durable.rows('mail')];
    const mail = mails.find(({ message_id }) => message_id === messageId);
    if (mail === undefined) return 0;
    const rules = rulesOf(mail['source'] as MailSource);
    return waitMsAfter(rules, Number(mail['attempts']) + 1) ?? Number.POSITIVE_INFINITY;
  }

  begun(attempt: Attempt): void {
    const { message, handOvers, wasAccepted } = attempt;
    const what = whatOf(message);
    const name = nameOf(message);
    const before = this.#attempts.get(what) ?? [];
    this.#attempts.set(what, [...before, attempt]);
    attempt.fate = 'begun';
    const { report } = this.#options;
    if ((this.#handOvers.get(message.messageId) ?? 0) <= handOvers) report(`${what} began, not handed over`);
    if (wasAccepted) report(`${what} began although a relay was known to have it`);
    if (before.some((other) => other.message.messageId !== message.messageId)) report(`${what} has two ids`);
    if (!mayRepeat(message) && before.some(({ fate }) => fate !== 'not-taken')) report(`${what} began twice`);
    if (this.#stopped.has(name)) report(`${what} began although it was stopped`);
    const earlyMs = (this.#dues.get(name) ?? 0) - this.#options.skewMs - this.#nowMs();
    if (earlyMs > 0) report(`${what} began ${earlyMs} ms early`);
    if (message.subject === 'A letter' && !this.#isWritten(name)) report(`${what} was never written`);
  }

  ended(attempt: Attempt, isTaken: boolean): void {
    attempt.fate = isTaken ? 'taken' : 'not-taken';
  }

  // --- the durable state ------------------------------------------------------------------------------------

  committed({ writes }: Commit): void {
    for (const write of writes) {
      if (write.table.name !== 'mail' || !('put' in write)) continue;
      const { message_id, state, handed_over } = write.put;
      const messageId = String(message_id);
      if (state === 'leased' && handed_over === true)
        this.#handOvers.set(messageId, (this.#handOvers.get(messageId) ?? 0) + 1);
      if (state === 'accepted') this.#accepted.add(messageId);
    }
  }

  /** The obstacles that keep the queue from coming to rest. */
  pending(): string | undefined {
    const { durable } = this.#options;
    const { counts } = durable.slice<{ counts: Record<string, number> }>(mailer, 'queue') ?? { counts: {} };
    const busy = ['urgent', 'ordinary', 'bulk', 'waiting', 'leased'].find(
      (state) => (counts[state] ?? 0) > 0,
    );
    if (busy !== undefined) return `a mail is ${busy}`;
    for (const { name, due_at: dueAt } of durable.rows('timer')) {
      const isSoon = Number(dueAt) < this.#nowMs() + 60_000;
      if (isSoon && (name === 'watchSwitches' || name === 'sendReminders')) return `timer ${name}`;
    }
    return undefined;
  }

  atRest(): void {
    const arrived = new Set<string>();
    for (const attempts of this.#attempts.values()) {
      for (const { message, fate } of attempts) if (fate === 'taken') arrived.add(nameOf(message));
    }
    const dead = this.#namesOfDead();
    for (const name of this.#owed) {
      if (!arrived.has(name) && !dead.has(name)) this.#options.report(`${name} is owed and never arrived`);
    }
    for (const { id, source } of this.#rows('dead')) {
      if (source === 'dead-man-switch' || source === 'email-reminder')
        this.#options.report(`${id} is dead, which it never should be`);
    }
    this.#outcomesAtRest();
  }

  /** Letters with unknown delivery. */
  #namesOfDead(): ReadonlySet<string> {
    const letters = this.#rows('dead').filter(({ handed_over }) => handed_over === true);
    return new Set(letters.map(({ id }) => String(id)));
  }

  /** The author of a letter is told once that the relay took it. */
  #outcomesAtRest(): void {
    for (const { id } of this.#rows('accepted')) {
      const [author = ''] = String(id).split('-letter-');
      if (author === id) continue;
      const outcomes = this.#options.durable
        .slice<readonly { id: string; outcome: string }[]>({ kind: 'author', id: author }, 'outcomes')
        ?.filter((each) => each.id === id && each.outcome === 'accepted');
      if (outcomes?.length !== 1)
        this.#options.report(`${author} was told ${outcomes?.length} times of ${id}`);
    }
  }

  #rows(state: string) {
    return [...this.#options.durable.rows('mail')].filter((row) => row['state'] === state);
  }

  #isWritten(letter: string): boolean {
    const [id = ''] = letter.split('-letter-');
    const letters = this.#options.durable.slice<readonly string[]>({ kind: 'author', id }, 'letters');
    return letters?.includes(letter) ?? false;
  }

  #nowMs(): number {
    return startOfTimeMs + this.#options.time.nowMs;
  }
}

const reminderMark = 'Reminder: ';

const mayRepeat = ({ subject }: MailMessage): boolean =>
  subject === 'Something was left for you' || subject.startsWith(reminderMark);

const whatOf = ({ recipient, subject, text }: MailMessage): string => `${recipient}: ${subject}: ${text}`;

/** Its client's name for it. */
function nameOf({ recipient, subject }: MailMessage): string {
  if (subject.startsWith(reminderMark)) return subject.slice(reminderMark.length);
  return recipient.slice(0, recipient.indexOf('@'));
}
