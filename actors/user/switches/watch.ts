/**
 * One timer for all switches of an account, armed for what comes first: a warning, a look, a deadline, another attempt.
 * With a ban it rests, and what has not left is recalled; afterwards it finds what was to come long overdue, as after
 * an outage.
 */
import { type Turn, timer } from '../../../runtime/command.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { AccountSettings } from '../../settings.ts';
import { audit } from '../audit/trail.ts';
import { isInUse } from '../profile.ts';
import { scheduleOf } from '../schedule.ts';
import { Switches } from './contract.ts';
import { forgetMail, mailSwitch, recallMails, tellOwnerSent, warnOwner } from './mails.ts';
import { nextWatchMs, type Switch, switchMap, watched } from './switch.ts';

const { watchSwitches } = Switches.timers;
/** A mail is dead if an administrator discards it. */
const deadRetryMs = 86_400_000;

const schedule = scheduleOf<Switch>({
  map: switchMap,
  keyOf: ({ uuid }) => uuid,
  timer: watchSwitches,
  nextMs: (turn) => (each) => (isInUse(turn) ? nextWatchMs(each, turn.nowMs) : undefined),
  recall: recallMails,
});

export const {
  set: setSwitch,
  remove: removeSwitch,
  /** In the commit that deletes the account. */
  forget: forgetSwitches,
} = schedule;

export const watchSwitchesTimer = timer({
  ...watchSwitches,
  missed: 'fire-once',
  turn: (turn) => {
    for (const each of turn.entries(switchMap).values()) watchOne(turn, each);
    schedule.arm(turn);
  },
});

function watchOne(turn: Turn, before: Switch): void {
  const { after, telling } = watched(before, turn.nowMs, turn.use(AccountSettings).switchOutageGraceMs);
  if (after === before) return;
  turn.setEntry(switchMap, after.uuid, after);
  if (telling === 'warn') warnOwner(turn, after);
  if (telling !== 'fire') return;
  mailSwitch(turn, after);
  if (before.state === 'armed') audit(turn, 'dead-man-switch-fired', null, after.uuid);
}

export function switchMailOutcome(turn: Turn, uuid: string, round: number, outcome: MailOutcome): void {
  const before = schedule.find(turn, uuid, round);
  if (before?.state !== 'queued') return;
  const { atMs, attempts, nextAttemptAtMs } = outcome;
  switch (outcome.outcome) {
    case 'accepted': {
      const after: Switch = { ...before, state: 'sent', nextAttemptAtMs: null, lastAttemptAtMs: atMs };
      setSwitch(turn, after);
      if (isInUse(turn)) tellOwnerSent(turn, after);
      return;
    }
    case 'failed':
      // They come in no order.
      if (attempts < before.sendAttempts) return;
      setSwitch(turn, { ...before, sendAttempts: attempts, nextAttemptAtMs, lastAttemptAtMs: atMs });
      return;
    case 'refused':
      setSwitch(turn, { ...before, state: 'waiting', nextAttemptAtMs });
      break;
    case 'dead':
      // A mail of its own comes: of this one nothing may be left that an administrator could still send.
      forgetMail(turn, before);
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

/** While an account is banned nothing is sent for it. */
export function pauseSwitches(turn: Turn): void {
  for (const each of turn.entries(switchMap).values()) recallMails(turn, each);
  turn.disarm(watchSwitches);
}

/** What was recalled when the ban began is armed again, so that it is overdue like all that its owner could not keep off. */
export function resumeSwitches(turn: Turn): void {
  for (const each of turn.entries(switchMap).values()) {
    if (each.state !== 'queued') continue;
    turn.setEntry(switchMap, each.uuid, { ...each, state: 'armed', round: each.round + 1 });
  }
  schedule.arm(turn);
}
