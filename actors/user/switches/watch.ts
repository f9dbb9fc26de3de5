/**
 * The timer of all switches of an account. It is armed for the earliest warning, look, deadline or attempt. During a ban it
 * rests, and mails that have not left are recalled. After the ban it finds everything overdue, as after an outage.
 */
import { type Turn, timer } from '../../../runtime/command.ts';
import { mailAddress } from '../../mailer/address.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { tellToRecall } from '../../mailer/outgoing.ts';
import { AccountSettings } from '../../settings.ts';
import { isoTime } from '../../times.ts';
import { audit } from '../audit/trail.ts';
import { sendMail, textOf } from '../mails.ts';
import { isInUse, profileSlice } from '../profile.ts';
import { scheduleOf } from '../schedule.ts';
import { Switches } from './contract.ts';
import { contentsOf, nextWatchMs, type Switch, switchMap, watched } from './switch.ts';

const { watchSwitches } = Switches.timers;
/** A mail is dead if an administrator discards it. */
const deadRetryMs = 86_400_000;

const schedule = scheduleOf<Switch>({
  name: 'switch',
  map: switchMap,
  keyOf: ({ uuid }) => uuid,
  timer: watchSwitches,
  nextMs: (turn) => (each) => (isInUse(turn) ? nextWatchMs(each, turn.nowMs) : undefined),
  recall: recallMails,
});

export const { set: setSwitch, remove: removeSwitch, forget: forgetSwitches } = schedule;

export const watchSwitchesTimer = timer(watchSwitches, (turn) => {
  for (const each of turn.entries(switchMap).values()) watchOne(turn, each);
  schedule.arm(turn);
});

function watchOne(turn: Turn, before: Switch): void {
  const { after, telling } = watched(before, turn.nowMs, turn.use(AccountSettings).switchOutageGraceMs);
  if (after === before) return;
  turn.setEntry(switchMap, after.uuid, after);
  if (telling === 'warn') notify(turn, after, warning(turn, after));
  if (telling !== 'fire') return;
  const again = after.messageId !== null && { messageId: after.messageId };
  schedule.mail(turn, after, { ...mailToRecipient(turn, after), ...again });
  if (before.state === 'armed') audit(turn, 'dead-man-switch-fired', null, after.uuid);
}

const noticeIdOf = (entry: Switch, about: Notice['about']): string => `${schedule.mailIdOf(entry)}:${about}`;

/** Mails the owner. An account whose name is no address gets no notices. */
function notify(turn: Turn, entry: Switch, { about, subject, text }: Notice): void {
  const { email, createdAtMs: accountSinceMs } = turn.get(profileSlice);
  const recipient = mailAddress(email);
  if (recipient === undefined) return;
  const id = noticeIdOf(entry, about);
  sendMail(turn, { id, source: 'dead-man-switch-notice', accountSinceMs, recipient, subject, text });
}

/** Nobody gets a mail of this round that has not left. */
export function recallMails(turn: Turn, entry: Switch): void {
  if (entry.state === 'queued') schedule.recallMail(turn, entry);
  if (entry.state === 'armed' && entry.warnAtMs === null) tellToRecall(turn, noticeIdOf(entry, 'warning'));
}

export function switchMailOutcome(turn: Turn, uuid: string, round: number, outcome: MailOutcome): void {
  const before = schedule.find(turn, uuid, round);
  if (before?.state !== 'queued') return;
  const { atMs, attempts, nextAttemptAtMs } = outcome;
  switch (outcome.outcome) {
    case 'accepted': {
      const after: Switch = { ...before, state: 'sent', nextAttemptAtMs: null, lastAttemptAtMs: atMs };
      setSwitch(turn, after);
      if (isInUse(turn)) notify(turn, after, noticeOfSending(turn, after));
      return;
    }
    case 'failed':
      // Reports come in no order.
      if (attempts < before.sendAttempts) return;
      setSwitch(turn, { ...before, sendAttempts: attempts, nextAttemptAtMs, lastAttemptAtMs: atMs });
      return;
    case 'refused':
      setSwitch(turn, { ...before, state: 'waiting', nextAttemptAtMs });
      break;
    case 'dead':
      // A new mail will come. An administrator must not be able to send this one any more.
      schedule.recallMail(turn, before);
      setSwitch(turn, {
        ...before,
        state: 'waiting',
        round: round + 1,
        nextAttemptAtMs: turn.nowMs + deadRetryMs,
        messageId: outcome.messageId ?? before.messageId,
      });
      break;
  }
}

/**
 * The account has another address. Warns again there, also if the former address has got the warning. If it has not, that warning is
 * recalled. A recalled mail uses up its id, so another round begins, with the same deadline.
 */
export function warnAgain(turn: Turn): void {
  for (const each of turn.entries(switchMap).values()) {
    if (each.state !== 'armed' || each.warnAtMs !== null) continue;
    recallMails(turn, each);
    turn.setEntry(switchMap, each.uuid, { ...each, warnAtMs: turn.nowMs, round: each.round + 1 });
  }
  schedule.arm(turn);
}

/** Nothing is sent for a banned account. */
export function pauseSwitches(turn: Turn): void {
  for (const each of turn.entries(switchMap).values()) recallMails(turn, each);
  turn.disarm(watchSwitches);
}

/**
 * Arms the switches that were recalled when the ban began. They are then overdue, like those whose deadline the owner could not
 * prevent.
 */
export function resumeSwitches(turn: Turn): void {
  for (const each of turn.entries(switchMap).values()) {
    if (each.state !== 'queued') continue;
    turn.setEntry(switchMap, each.uuid, { ...each, state: 'armed', round: each.round + 1 });
  }
  schedule.arm(turn);
}

// --- the mails -----------------------------------------------------------------------------------------------

// They go to the recipient and to the owner. A subject holds nothing that anyone wrote.

const what = "a dead man's switch";

function mailToRecipient(turn: Turn, entry: Switch) {
  const { recipient, shareUrl, message } = contentsOf(turn, entry);
  const { email } = turn.get(profileSlice);
  const text = textOf([
    `${email} has set up ${what} on a server for notes, and has not checked in since it was due on ${isoTime(entry.deadlineMs)}. ` +
      'This mail was to be sent to you then.',
    ...(message === null ? [] : [`What ${email} wrote for you:`, message]),
    'The link to what was left for you:',
    shareUrl,
    `If you do not know who ${email} is, do not open the link.`,
  ]);
  return { source: 'dead-man-switch', recipient, subject: 'Something was left for you', text } as const;
}

interface Notice {
  readonly about: 'warning' | 'sent';
  readonly subject: string;
  readonly text: string;
}

function warning(turn: Turn, entry: Switch): Notice {
  const { recipient } = contentsOf(turn, entry);
  const text = textOf([
    `You have set up ${what}. Unless you check in before ${isoTime(entry.deadlineMs)}, a mail with your link is sent to ${recipient}.`,
    'Sign in to your notes and check in, or delete it there.',
  ]);
  return { about: 'warning', subject: "Your dead man's switch is about to fire", text };
}

function noticeOfSending(turn: Turn, entry: Switch): Notice {
  const { recipient } = contentsOf(turn, entry);
  const text = textOf([
    `You had not checked in before ${isoTime(entry.deadlineMs)}, so the mail with your link was sent to ${recipient}.`,
    'It cannot be called back. To stop others from opening the link, sign in to your notes and revoke what it shares.',
  ]);
  return { about: 'sent', subject: "Your dead man's switch has fired", text };
}
