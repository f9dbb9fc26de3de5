/**
 * When an account mails itself a backup. The setting `EMAIL_BACKUP_FREQUENCY` decides how often, counted from the last one. So
 * changing the setting to and fro brings no more mails.
 *
 *     turned on   the first backup is due at once
 *     due         the mail queue is told of a mail, which names no file: the queue asks for it when it sends the mail
 *     recalled    the address has changed, the account is banned or deleted, or the user wants no backups any more
 *
 * A mail that could not be sent is not repeated, as the next backup comes anyway.
 */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { importSlice } from '../../import/phase.ts';
import { mailAddress } from '../../mailer/address.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { tellToRecall } from '../../mailer/outgoing.ts';
import { type Refused, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { isoTime } from '../../times.ts';
import { listenerFor, sendMail, textOf } from '../mails.ts';
import { isInUse, profileSlice } from '../profile.ts';
import { putSetting, settingValue } from '../settings/stored.ts';
import { MailBackups } from './mailer-contract.ts';

const { mailBackup } = MailBackups.timers;

const dayMs = 86_400_000;
const everyMs: ReadonlyMap<string | null, number> = new Map([
  ['daily', dayMs],
  ['weekly', 7 * dayMs],
  ['monthly', 30 * dayMs],
]);

/** The name by which the part listens for outcomes. */
export const listener = 'backup';

const backupSchema = z.object({
  /** The round of the last mail. The outcome of an earlier one changes nothing. */
  round: z.int(),
  lastAtMs: z.number().nullable(),
  /** The queue has the mail of this round, or is told of it. */
  isQueued: z.boolean(),
});

export const backupSlice = slice<z.infer<typeof backupSchema>>({
  name: 'mail-backup',
  schema: backupSchema,
  initial: { round: 0, lastAtMs: null, isQueued: false },
});

const notOffered = refuse.badRequest('This server sends no backups by e-mail.', 'email-backups-disabled');
const noAddress = refuse.badRequest(
  'No mail can be sent to the name of this account, as it is no e-mail address.',
  'email-backups-disabled',
);

/** This value of the setting asks for backups. */
export const asksForBackups = (frequency: string | null): boolean => everyMs.has(frequency);

export const isEnabled = (view: View): boolean => intervalMsOf(view) !== undefined;

/** Undefined: the user wants none. */
const intervalMsOf = (view: View): number | undefined =>
  everyMs.get(settingValue(view, 'EMAIL_BACKUP_FREQUENCY'));

/** Why no backup would ever come. */
export function refusalOfBackups(turn: Turn): Refused | undefined {
  if (!turn.use(AccountSettings).emailBackups) return notOffered;
  return mailAddress(turn.get(profileSlice).email) === undefined ? noAddress : undefined;
}

/** Call when something has changed that the next backup depends on. */
export function scheduleBackup(turn: Turn): void {
  const intervalMs = intervalMsOf(turn);
  if (intervalMs === undefined) {
    turn.disarm(mailBackup);
    recallBackup(turn);
    return;
  }
  const { lastAtMs } = turn.get(backupSlice);
  turn.arm(mailBackup, lastAtMs === null ? turn.nowMs : Math.max(turn.nowMs, lastAtMs + intervalMs), null);
}

/** For an account that an import opens. All of them come within moments, so the first backups are spread. */
export function spreadFirstBackup(turn: Turn): void {
  const before = turn.get(backupSlice);
  const intervalMs = intervalMsOf(turn);
  if (intervalMs !== undefined && before.lastAtMs === null) {
    turn.set(backupSlice, {
      ...before,
      lastAtMs: turn.nowMs - Math.floor(fraction(turn) * intervalMs),
    });
  }
  scheduleBackup(turn);
}

const fraction = ({ random }: Turn): number => random.bytes(4).readUInt32BE(0) / 2 ** 32;

export function recallBackup(turn: Turn): void {
  const { isQueued, round } = turn.get(backupSlice);
  if (isQueued) tellToRecall(turn, mailIdOf(turn, round));
}

/** If nothing may be sent now, the timer stays off. A change of the setting or address, or the end of a ban or import, arms it again. */
export function backupIsDue(turn: Turn): void {
  const intervalMs = intervalMsOf(turn);
  if (intervalMs === undefined || !isInUse(turn) || turn.get(importSlice).phase === 'closed') return;
  const recipient = mailAddress(turn.get(profileSlice).email);
  if (recipient === undefined) return;
  turn.arm(mailBackup, turn.nowMs + intervalMs, null);
  if (turn.use(AccountSettings).emailBackups) send(turn, recipient);
}

function send(turn: Turn, recipient: string): void {
  const round = turn.get(backupSlice).round + 1;
  turn.set(backupSlice, { round, lastAtMs: turn.nowMs, isQueued: true });
  const date = isoTime(turn.nowMs).slice(0, 10);
  sendMail(turn, {
    id: mailIdOf(turn, round),
    source: 'email-backup',
    recipient,
    subject: `Backup of your account, ${date}`,
    text: textOf([
      'The attached file is a backup of your account. It holds all your items as the server has them: encrypted.',
      'Your app can import it, and asks for your password. The file has neither the history of your items nor your files.',
      howToStop,
    ]),
    attachment: {
      filename: `scriptorium-backup-${date}.txt`,
      textWithout: textOf([
        'A backup of your account was due, but it is too large for a mail. So this mail brings none.',
        'Please let your app export your data instead.',
        howToStop,
      ]),
    },
    accountSinceMs: turn.get(profileSlice).createdAtMs,
    listener: listenerFor(turn, listener, turn.self.id, round),
  });
}

const howToStop =
  'The settings of your account say how often such a mail comes. There you can turn backups by e-mail off.';

const mailIdOf = (turn: Turn, round: number): string => `backup:${turn.self.id}:${round}`;

export function backupMailOutcome(turn: Turn, _uuid: string, round: number, outcome: MailOutcome): void {
  const before = turn.get(backupSlice);
  // The queue tries a failed one again.
  if (before.round !== round || outcome.outcome === 'failed') return;
  const ended = { ...before, isQueued: false };
  turn.set(backupSlice, ended);
  if (outcome.outcome === 'accepted' && outcome.lacksAttachment !== true) {
    putSetting(turn, 'EMAIL_BACKUP_LAST_SENT', isoTime(outcome.atMs));
  }
  if (outcome.outcome === 'recalled') {
    turn.set(backupSlice, { ...ended, lastAtMs: null });
    scheduleBackup(turn);
  }
  const isWorthRepeating = outcome.outcome === 'refused' && outcome.refusal !== 'not-configured';
  if (isWorthRepeating && isEnabled(turn)) turn.arm(mailBackup, outcome.nextAttemptAtMs ?? turn.nowMs, null);
}
